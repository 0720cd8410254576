"""Word's .docx, turned into HTML by mammoth and read as that; Rich Text Format by striprtf."""

import io
import re
import zipfile
from dataclasses import replace
from functools import partial
from xml.etree.ElementTree import Element, SubElement, tostring

from foundry.material import Reading
from foundry.material.reasons import Reason
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.dates import normalise_date
from foundry.readers.decoding import normalise
from foundry.readers.formats import html
from foundry.readers.formats.packed import Package, describe
from foundry.readers.formats.pictures import PICTURE_SUFFIXES, extend, read_pictures

_WORDS = re.compile(r"\w{2}")
_TITLE = re.compile(r"\{\\title ([^{}\\]{1,500})\}")
_REVISED = re.compile(r"\{\\(?:revtim|creatim)\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")
_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def read(content: bytes, *, ocr: bool = False) -> Reading:
    """Read a document's text, tables, lists and notes; pictures give their description.

    With `ocr`, the pictures of a document without text are read.

    Raises UnreadableError for a bomb, and for a document without its main part.
    """
    import mammoth

    package = Package(content)
    if not any(name.startswith("word/document") for name in package.names):
        raise UnreadableError(Reason.DAMAGED, "there is no word/document.xml")
    # Only the description is kept, so no picture is unpacked, and none is fetched.
    picture = mammoth.images.img_element(lambda _: {"src": ""})
    result = mammoth.convert_to_html(
        io.BytesIO(spell_equations(package, content)),
        convert_image=picture,
        style_map=_STYLES,
        external_file_access=False,
    )
    reading = html.read(f"<html><body>{normalise(result.value)}</body></html>")
    if ocr and not _WORDS.search(reading.text):
        media = (name for name in package.names if name.startswith("word/media/"))
        found = (name for name in media if name.lower().endswith(PICTURE_SUFFIXES))
        reading = read_pictures(package.read(name) or b"" for name in found)
    stated = describe(package.xml("docProps/core.xml"))
    stated["title"] = stated["title"] or reading.title
    return replace(reading, **stated)


def read_rtf(content: bytes) -> Reading:
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


_PART = "word/document.xml"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_APPLY = "\u2061"
"""An invisible sign between a function and its argument."""


def spell_equations(package: Package, content: bytes) -> bytes:
    """Return the document with every equation as text; `content` itself where there is none."""
    root = package.xml(_PART)
    if root is None or next(root.iter(f"{_MATH}oMath"), None) is None:
        return content
    for parent in list(root.iter()):
        for place, child in enumerate(parent):
            if child.tag == f"{_MATH}oMath":
                parent[place] = _run(_spell(child))
            elif child.tag == f"{_MATH}oMathPara":
                parent[place] = _run(
                    "; ".join(_spell(line) for line in child.iter(f"{_MATH}oMath"))
                )
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name in package.names:
            part = tostring(root, "utf-8") if name == _PART else package.read(name)
            archive.writestr(zipfile.ZipInfo(name), part or b"")
    return written.getvalue()


def _run(text: str) -> Element:
    run = Element(f"{_WORD}r")
    SubElement(run, f"{_WORD}t", {_SPACE: "preserve"}).text = text
    return run


def _spell(element: Element) -> str:
    parts = {child.tag.removeprefix(_MATH): child for child in element}
    match element.tag.removeprefix(_MATH):
        case "t":
            return (element.text or "").replace(_APPLY, " ")
        case "f" if "num" in parts and "den" in parts:
            return f"{_group(parts['num'])}/{_group(parts['den'])}"
        case "rad" if "e" in parts:
            return f"√({_spell(parts['e'])})"
        case "d":
            return f"({', '.join(_spell(child) for child in element if child.tag == f'{_MATH}e')})"
        case "m":
            return f"[{'; '.join(_spell(row) for row in element.iter(f'{_MATH}mr'))}]"
        case "mr":
            return ", ".join(_spell(cell) for cell in element)
        case "sub":
            return f"_{_group(element)}"
        case "sup":
            return f"^{_group(element)}"
        case "nary" if "e" in parts:
            sign = element.find(f"{_MATH}naryPr/{_MATH}chr")
            limits = "".join(_spell(parts[name]) for name in ("sub", "sup") if name in parts)
            operator = "∫" if sign is None else sign.get(f"{_MATH}val", "")
            return f"{operator}{limits} {_spell(parts['e'])}"
        case _:
            return "".join(_spell(child) for child in element)


def _group(element: Element) -> str:
    """Return the text of a part, in brackets unless it is one number or word."""
    text = "".join(_spell(child) for child in element)
    return text if text.isalnum() else f"({text})"


READER = extend(
    FileReader(
        "docx/1", {"Word": _TYPE}, {".docx": _TYPE, ".docm": _TYPE}, read, ("mammoth",), "office"
    ),
    partial(read, ocr=True),
)
RTF_READER = FileReader(
    "rtf/1",
    {"RTF": "application/rtf"},
    {".rtf": "application/rtf"},
    read_rtf,
    ("striprtf",),
    "office",
)
