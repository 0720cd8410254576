#!/usr/bin/env bash
# openpyxl 3.1.5, python-calamine 0.9.1 and XlsxWriter 3.3.1: "_x0041_" in a cell of .xlsx.
# Expected: what one library writes the other reads. In .xlsx "_x0041_" stands for "A" (ECMA-376, ST_Xstring), and a
#   text that has these signs itself is written "_x005F_x0041_".
# Seen: openpyxl does not write the form, and reads it of the underscore alone. A name such as "pump_x0041_b" that it wrote is "pumpAb" to calamine, as
#   it is to Excel; and of a text with a line break of Windows, as Excel and XlsxWriter write it, openpyxl
#   shows the letters "_x000D_", where calamine gives the line break.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet openpyxl==3.1.5 python-calamine==0.9.1 xlsxwriter==3.3.1
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import openpyxl
import xlsxwriter
from python_calamine import CalamineWorkbook

name, lines = "pump_x0041_b", "one\r\ntwo"
book = openpyxl.Workbook()
book.active.append([name])
book.save("openpyxl.xlsx")
with xlsxwriter.Workbook("xlsxwriter.xlsx") as other:
    other.add_worksheet().write_row(0, 0, [name, lines])
read = {}
for path in ("openpyxl.xlsx", "xlsxwriter.xlsx"):
    cells = next(openpyxl.load_workbook(path).active.iter_rows(values_only=True))
    [rows] = [CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()]
    read[path] = list(cells), rows[0]
    print(path, "by openpyxl:", list(cells), "by calamine:", rows[0])
print(*(f"{each} {version(each)}" for each in ("openpyxl", "python-calamine", "xlsxwriter")))
assert read["openpyxl.xlsx"] == ([name], ["pumpAb"])
by_openpyxl, by_calamine = read["xlsxwriter.xlsx"]
assert by_calamine == [name, lines]
assert by_openpyxl == [name, "one_x000D_\ntwo"]
PYTHON
