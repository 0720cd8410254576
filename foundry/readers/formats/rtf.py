"""Rich Text Format: its text, by striprtf, and what its information group says."""

import re

from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader
from foundry.readers.dates import normalise_date
from foundry.records import Reading

_TITLE = re.compile(r"\{\\title ([^{}\\]{1,500})\}")
_REVISED = re.compile(r"\{\\(?:revtim|creatim)\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")


def read(content: bytes) -> Reading:
    """Read the text of a document; RTF marks headings by styles only, so it has no outline."""
    from striprtf.striprtf import rtf_to_text

    source = content.decode("latin-1")
    composer = Composer()
    composer.text(rtf_to_text(source, errors="replace"))  # type: ignore[no-untyped-call]
    title = _TITLE.search(source)
    revised = _REVISED.search(source)
    return composer.finish(
        title=title[1] if title else None,
        modified=normalise_date(
            f"{revised[1]}-{int(revised[2]):02}-{int(revised[3]):02}" if revised else None
        ),
    )


READER = FileReader(
    "rtf/1", {"RTF": "application/rtf"}, {".rtf": "application/rtf"}, read, ("striprtf",), "office"
)
