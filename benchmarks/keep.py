"""Keeps what a benchmark prints: `python benchmarks/query.py | python benchmarks/keep.py query`.

Standard input is passed on as it comes. When it has ended, it takes the place of what is between
`<!-- NAME -->` and `<!-- end NAME -->` in a page of results/, unless it is empty.
"""

import argparse
import re
import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def main() -> int:
    """Pass on, then keep."""
    pages = {
        name: page
        for page in sorted(RESULTS.glob("*.md"))
        for name in re.findall(r"(?m)^<!-- end (\S+) -->$", page.read_text(encoding="utf-8"))
    }
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=pages)
    name = parser.parse_args().name
    lines = []
    for line in sys.stdin:
        print(line, end="", flush=True)
        lines.append(line)
    found = "".join(lines).strip()
    if found:
        # Read again: others may have been kept meanwhile.
        head, _, rest = pages[name].read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
        _, end, tail = rest.partition(f"<!-- end {name} -->\n")
        kept = f"{head}<!-- {name} -->\n{found}\n{end}{tail}"
        pages[name].write_text(kept, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
