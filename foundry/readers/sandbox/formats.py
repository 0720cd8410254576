"""The formats that worker processes read, one module each."""

from foundry.readers.code import outline as code_outline
from foundry.readers.contract import FileReader
from foundry.readers.formats import (
    docx,
    epub,
    mail,
    opendocument,
    outlook,
    pdf,
    pictures,
    pptx,
    rst,
    rtf,
    sheets,
    xml,
)

FILE_READERS: tuple[FileReader, ...] = (
    pdf.READER,
    docx.READER,
    pptx.READER,
    sheets.READER,
    opendocument.READER,
    epub.READER,
    rtf.READER,
    mail.READER,
    outlook.READER,
    xml.READER,
    rst.READER,
    *code_outline.READERS.values(),
)

WITH_OCR: dict[str, FileReader] = {
    pdf.READER.version: pdf.OCR_READER,
    docx.READER.version: docx.OCR_READER,
    pptx.READER.version: pptx.OCR_READER,
}
"""What reads the documents of a format, by its usual reader's version, where pictures are read."""
PICTURES = pictures.READER
"""Reads files that are pictures, where they are read at all."""
