#!/usr/bin/env bash
# tabulate 0.10.0, alone and below DataFrame.to_markdown of pandas 3.1.1.
# Expected: cells that are strings are written as they are; in pandas, a column of strings is one of strings.
# Seen: if all strings of a column look like numbers, they are numbers: version "1.10" is written 1.1, article
#   "12E3" 12000. A column with one more word in it is kept. `disable_numparse=True` keeps all.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tabulate==0.10.0 pandas==3.1.1
"$folder/venv/bin/python" - <<'PYTHON'
import pandas
from tabulate import tabulate

COLUMNS = {"version": ["1.10", "1.9"], "article": ["12E3", "4711"], "other": ["1.10", "none"]}
frame = pandas.DataFrame(COLUMNS)
print("pandas", pandas.__version__, [str(kind) for kind in frame.dtypes])
for table in (frame.to_markdown(index=False), tabulate(COLUMNS, headers="keys", tablefmt="pipe")):
    print(table)
    cells = [cell.strip() for cell in table.splitlines()[2].strip("|").split("|")]
    assert cells == ["1.1", "12000", "1.10"], cells
kept = frame.to_markdown(index=False, disable_numparse=True)
assert "| 1.10 " in kept and "12E3" in kept
PYTHON
