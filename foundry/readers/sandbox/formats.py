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
