"""How often a section's own name finds it: `python benchmarks/headings.py FOLDER NAMES_FOLDER`.

FOLDER is built with the default configuration. The file names of the Markdown files in NAMES_FOLDER
(a folder in it; a qualifier in brackets at the end of a name is dropped) are the queries. A hit is
right if it belongs to that file, or to a section headed by exactly the name.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

from common import build, load_server, machine, make_project


def main() -> int:
    """Print the share of names found first, and among the first three."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", type=Path, metavar="names_folder")
    chosen = parser.parse_args()
    print(machine())
    files = [path for path in sorted(chosen.names.glob("*.md")) if path.name[0].isalpha()]
    with tempfile.TemporaryDirectory() as work:
        project = make_project(
            Path(work) / "project", f'type = "folder"\npath = "{chosen.folder.resolve()}"'
        )
        print(build(project))
        search = load_server(project, "benchmark_headings").search_hybrid
        first = among_three = 0
        for file in files:
            name = re.sub(r" \([^)]*\)$", "", file.stem)
            path = file.resolve().relative_to(chosen.folder.resolve()).as_posix()
            right = [
                hit.chunk.path == path or hit.chunk.section[-1:] == [name]
                for hit in search(name, 3).hits
            ]
            first += right[0]
            among_three += any(right)
            if not right[0]:
                print(f"not first: {name}")
    shares = f"first {first / len(files):.3f}, in three {among_three / len(files):.3f}"
    print(f"{len(files)} names: {shares}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
