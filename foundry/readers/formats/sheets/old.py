"""Reads Excel's binary workbooks (.xls, .xlsb) with calamine, which has no number formats."""

import io
from datetime import date, datetime, time, timedelta
from typing import Any

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.documents.reasons import Reason
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.formats.office.grids import Grid, add_grid
from foundry.readers.formats.office.number_formats import show_general
from foundry.readers.formats.sheets.cells import MAX_CELLS
from foundry.readers.notes import leave_out

_XLS = "application/vnd.ms-excel"
_XLSB = "application/vnd.ms-excel.sheet.binary.macroenabled.12"


def read(content: bytes) -> Reading:
    """Read the visible sheets, each as a page.

    Cells have the cached results of formulas. Raises UnreadableError for an encrypted workbook, and
    for too many cells, which may be a decompression bomb.
    """
    import python_calamine

    try:
        workbook = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    except python_calamine.PasswordError:
        raise UnreadableError(Reason.ENCRYPTED) from None
    composer = Composer()
    cells = 0
    for details in workbook.sheets_metadata:
        composer.page()
        if details.typ != python_calamine.SheetTypeEnum.WorkSheet:
            continue
        sheet = workbook.get_sheet_by_name(details.name)
        cells += sheet.total_height * sheet.total_width
        if cells > MAX_CELLS:
            raise UnreadableError(Reason.TOO_MANY_CELLS, f"the limit is {MAX_CELLS}")
        rows = [[*map(_to_text, row)] for row in sheet.to_python(skip_empty_area=True)]
        if details.visible != python_calamine.SheetVisibleEnum.Visible:
            leave_out(Omission.HIDDEN, "\n".join(" ".join(row) for row in rows), details.name)
            continue
        if any(map(any, rows)):
            composer.heading(2, details.name)
            add_grid(composer, Grid(rows, _merged(sheet)))
    return composer.finish()


def _merged(sheet: Any) -> list[tuple[range, range]]:
    top, left = sheet.start or (0, 0)
    return [
        (range(first - top, last - top + 1), range(begin - left, end - left + 1))
        for (first, begin), (last, end) in sheet.merged_cell_ranges or ()
        if first >= top and begin >= left
    ]


def _to_text(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return show_general(value)
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value).strip()


READER = FileReader(
    "old-sheets/1",
    {"old Excel": _XLS},
    {".xls": _XLS, ".xlsb": _XLSB},
    read,
    ("python_calamine",),
    "office",
)
