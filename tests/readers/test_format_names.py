"""The displayed names of the formats that readers know."""

import re

from foundry.readers.registry import FILE_READERS, READERS
from foundry.runtime.web.page import FOLDER

OFFICE = "application/vnd.openxmlformats-officedocument"


def test_formats_have_readable_names() -> None:
    script = (FOLDER / "formats.js").read_text("utf-8").replace("${OFFICE}", OFFICE)
    named = dict(re.findall(r'^  \[?["`](\S+)["`]\]?: "(.+)",$', script, re.MULTILINE))
    read = {kind for reader in (*READERS, *FILE_READERS) for kind in reader.media_types.values()}
    # The names of these two come from elsewhere: `text/x-rust`, and the kind of an OpenDocument
    # file.
    rest = {kind for kind in read if not re.match(r"text/x-[a-z]+$|.*\.opendocument\.", kind)}
    assert rest <= named.keys() <= read
    assert not [name for name in named.values() if "/" in name]
