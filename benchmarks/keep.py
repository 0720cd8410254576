"""Keeps what a benchmark prints: `python benchmarks/query.py | python benchmarks/keep.py query`.

Standard input is passed on as it comes. When it has ended, it takes the place of what is between
`<!-- NAME -->` and `<!-- end NAME -->` in README.md, unless it is empty.
"""

import argparse
import re
import sys
from pathlib import Path

README = Path(__file__).parent / "README.md"


def main() -> int:
    """Pass on, then keep."""
    text = README.read_text(encoding="utf-8")
    names = re.findall(r"(?m)^<!-- end (\S+) -->$", text)
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=names)
    name = parser.parse_args().name
    lines = []
    for line in sys.stdin:
        print(line, end="", flush=True)
        lines.append(line)
    found = "".join(lines).strip()
    if found:
        # Read again: others may have been kept meanwhile.
        head, _, rest = README.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
        _, end, tail = rest.partition(f"<!-- end {name} -->\n")
        README.write_text(f"{head}<!-- {name} -->\n{found}\n{end}{tail}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
