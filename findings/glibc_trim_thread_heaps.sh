#!/usr/bin/env bash
# glibc 2.36 (malloc_trim), with numpy 2.2.6.
# Expected: malloc_trim(0) returns the memory that a thread has freed, as malloc_trim(3) says: "Since
#   glibc 2.8 this function frees memory in all arenas and in all chunks with whole free pages."
# Seen: the free end of a thread's heap (its top chunk) is kept. Four threads that allocated and freed
#   30 MB each leave 30 to 90 MB, however often it is called; with mallopt(M_ARENA_MAX, 1) nothing is left.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet numpy==2.2.6
cat > "$folder/trim.py" <<'PYTHON'
import ctypes
import platform
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np

libc = ctypes.CDLL(None)
M_ARENA_MAX = -8
if sys.argv[1:] == ["one"]:
    libc.mallopt(M_ARENA_MAX, 1)
kept = []
together = Barrier(4)


def private_mb() -> int:
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) // 1024


def work(_: int) -> None:
    kept.append(np.ones(1 << 16, dtype=np.int8))  # lives on, at the start of the heap
    large = [np.ones(1 << 20, dtype=np.int8) for _ in range(30)]
    together.wait()
    del large


np.ones(24 << 20, dtype=np.int8)  # freed at once, after which arrays of 1 MB come from heaps
before = private_mb()
with ThreadPoolExecutor(4) as threads:
    list(threads.map(work, range(4)))
for _ in range(3):
    libc.malloc_trim(0)
print(*platform.libc_ver(), *sys.argv[1:], "MB kept after malloc_trim:", private_mb() - before)
PYTHON
each=$("$folder/venv/bin/python" "$folder/trim.py" each)
one=$("$folder/venv/bin/python" "$folder/trim.py" one)
echo "$each"
echo "$one"
(( ${each##* } > 20 && ${one##* } < 10 ))
