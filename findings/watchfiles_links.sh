#!/usr/bin/env bash
# watchfiles 1.3.0 on Linux (inotify).
# Expected: watching a folder watches that folder and those below it; a symbolic link in it is one
#   entry, as for `os.walk` and `find`, which do not go where links lead.
# Seen: links to folders are followed. One link to a folder elsewhere with 500 folders in it costs 501
#   watches more, and changes there are reported under the link's name. There is no option.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet watchfiles==1.3.0
cd "$folder"
mkdir docs elsewhere
for number in $(seq 500); do mkdir "elsewhere/$number"; done
"$folder/venv/bin/python" - <<'PYTHON'
import os
import threading
from importlib.metadata import version
from pathlib import Path

from watchfiles import watch


def watches() -> int:
    number = 0
    for info in list(Path("/proc/self/fdinfo").iterdir()):
        try:
            number += info.read_text(errors="replace").count("inotify wd:")
        except FileNotFoundError:  # the listing's own
            continue
    return number


def count(touched: Path) -> tuple[int, list[str]]:
    """Watch docs until a file appears; returns the watches meanwhile and the changed paths."""
    seen: list[int] = []

    def act() -> None:
        seen.append(watches())
        touched.write_text("x")

    threading.Timer(1.0, act).start()
    changes = next(watch("docs", debounce=50, rust_timeout=5_000))
    return seen[0], sorted(path for _, path in changes)


print("watchfiles", version("watchfiles"))
alone, _ = count(Path("docs/a.txt"))
os.symlink("../elsewhere", "docs/link")
linked, changed = count(Path("elsewhere/7/b.txt"))
walked = sum(1 for _ in os.walk("docs"))
print("folders that os.walk sees:", walked)
print("watches without the link:", alone, "with it:", linked)
print("reported:", [Path(path).relative_to(Path.cwd()).as_posix() for path in changed])
assert walked == 1 and linked - alone >= 500
assert any("docs/link/7" in path for path in changed)
PYTHON
