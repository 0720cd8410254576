#!/usr/bin/env bash
# pandoc 3.9 (pypandoc_binary 1.17), its reader of .xlsx; workbooks by openpyxl 3.1.5 and XlsxWriter 3.3.1.
# Expected: both are read. OPC lets a relationship name its part from the root ("/xl/worksheets/sheet1.xml",
#   as openpyxl writes it) or from the folder of its source ("worksheets/sheet1.xml", as XlsxWriter does).
# Seen: a name from the root is joined to the folder all the same: "Entry not found:
#   xl//xl/worksheets/sheet1.xml", exit code 64. No workbook of openpyxl can be read.
#   In the other, dates are serial numbers (45356.0), and a share shown as 25.6 % is 0.256.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypandoc_binary==1.17 openpyxl==3.1.5 xlsxwriter==3.3.1
cd "$folder"
pandoc=$("$folder/venv/bin/python" -c 'import pypandoc; print(pypandoc.get_pandoc_path())')
"$pandoc" --version | head -1
"$folder/venv/bin/python" - <<'PYTHON'
import datetime

import openpyxl
import xlsxwriter

day, share = datetime.date(2024, 3, 5), 0.256
book = openpyxl.Workbook()
book.active.append(["day", "share"])
book.active.append([day, share])
book.active["B2"].number_format = "0.0%"
book.save("openpyxl.xlsx")
with xlsxwriter.Workbook("xlsxwriter.xlsx") as other:
    sheet = other.add_worksheet()
    sheet.write_row(0, 0, ["day", "share"])
    sheet.write_datetime(1, 0, day, other.add_format({"num_format": "yyyy-mm-dd"}))
    sheet.write(1, 1, share, other.add_format({"num_format": "0.0%"}))
PYTHON
for name in openpyxl xlsxwriter; do
  status=0
  "$pandoc" -f xlsx -t plain "$name.xlsx" >"$name.txt" 2>"$name.err" || status=$?
  echo "$name: exit code $status"
  cat "$name.err" "$name.txt"
  echo "$status" >"$name.status"
done
[ "$(cat openpyxl.status)" -eq 64 ]
grep -q 'Entry not found' openpyxl.err
[ "$(cat xlsxwriter.status)" -eq 0 ]
grep -q '45356.0 *0.256' xlsxwriter.txt
