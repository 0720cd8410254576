"""Writes foundry/config/stdlib_modules.toml: modules of every supported version of Python.

    python tools/list_modules.py python3.11 python3.12 python3.13 python3.14

Each argument is an interpreter, or a file with one name per line, such as the lists of the package
`stdlib-list`, for versions that are not installed. Names that no package can have are left out.
"""

import re
import subprocess
import sys
from pathlib import Path

from foundry.features.feature import PACKAGE_PATTERN

TARGET = Path(__file__).parents[1] / "foundry" / "config" / "stdlib_modules.toml"
ASK = "import sys; print(*sys.stdlib_module_names, sep='\\n')"
HEADING = """\
# Top-level modules of Python 3.11 to 3.14, whose names a package must not have.
# Written by tools/list_modules.py from CPython 3.11.7, 3.12.1 and 3.13.0, and for 3.14 from the
# list of stdlib-list 0.12.0. Its lists for the other versions are the same.
"""
WIDTH = 100


def names_of(argument: str) -> set[str]:
    """Return the top-level modules of an interpreter, or the names in a file."""
    if argument.endswith(".txt"):
        listed = Path(argument).read_text("utf-8")
    else:
        command = [argument, "-c", ASK]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.strip().partition(".")[0] for line in listed.splitlines()}


def main() -> None:
    """Write the union of all names."""
    found = set().union(*map(names_of, sys.argv[1:]))
    names = sorted(name for name in found if re.fullmatch(PACKAGE_PATTERN, name))
    lines, line = [], "   "
    for name in names:
        if len(line) + 1 + len(name) > WIDTH:
            lines.append(line)
            line = "   "
        line += f" {name}"
    text = "\n".join([*lines, line])
    TARGET.write_text(f'{HEADING}\nmodules = """\n{text}\n"""\n', encoding="utf-8")


if __name__ == "__main__":
    main()
