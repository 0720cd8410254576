"""Word's .docx: turned into HTML by mammoth, and read as that."""

import io
from dataclasses import replace

from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.decoding import normalise
from foundry.readers.formats import html
from foundry.readers.formats.docx_equations import spell_equations
from foundry.readers.formats.packed import Package, dublin_core, office_modified
from foundry.records import Reading

_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def read(content: bytes) -> Reading:
    """Read a document's text, tables, lists and notes; pictures give their description.

    Raises UnreadableError for a bomb, and for a document without its main part.
    """
    import mammoth

    package = Package(content)
    if not any(name.startswith("word/document") for name in package.names):
        raise UnreadableError("damaged", "there is no word/document.xml")
    # Only the description is kept, so no picture is unpacked, and none is fetched.
    picture = mammoth.images.img_element(lambda _: {"src": ""})
    result = mammoth.convert_to_html(
        io.BytesIO(spell_equations(package, content)),
        convert_image=picture,
        style_map=_STYLES,
        external_file_access=False,
    )
    reading = html.read(f"<html><body>{normalise(result.value)}</body></html>")
    properties = package.xml("docProps/core.xml")
    return replace(
        reading,
        title=dublin_core(properties, "title") or reading.title,
        modified=office_modified(properties),
        language=dublin_core(properties, "language"),
    )


READER = FileReader(
    "docx/1", {"Word": _TYPE}, {".docx": _TYPE, ".docm": _TYPE}, read, ("mammoth",), "office"
)
