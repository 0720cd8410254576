#!/usr/bin/env bash
# xlsx2csv 0.8.6, a sheet by openpyxl 3.1.5 with numbers below a millionth and a duration, without options.
# Expected: a cell of the format General is written with its digits (Excel and LibreOffice show 1.2E-07), and a
#   duration in the format [h]:mm as 36:00.
# Seen: six decimal places are written, so 0.00000012 is 0, and 0.00000155 is 0.000002. The duration is a number
#   of days, 1.5.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet xlsx2csv==0.8.6 openpyxl==3.1.5
cd "$folder"
venv/bin/python - <<'END'
import datetime

import openpyxl

book = openpyxl.Workbook()
book.active.append([0.00000012, 0.00000155, 0.5, datetime.timedelta(hours=36)])
book.active["D1"].number_format = "[h]:mm"
book.save("a.xlsx")
END
venv/bin/xlsx2csv a.xlsx | tee a.csv
grep -qx '0,0.000002,0.5,1.5' a.csv
