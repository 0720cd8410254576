"""Prints the tests of a room: `python tools/room_tests.py stores`.

These are the tests that benchmarks/mutants.toml assigns to the room's modules, and tests/ROOM, if
that folder exists.
"""

import argparse
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "benchmarks" / "mutants.toml"


def find_tests(room: str, mapped: Mapping[str, Sequence[str]], root: Path = ROOT) -> list[str]:
    """Return the test files of a room, such as `stores` or `runtime/chat`; [] if unknown."""
    name = room.strip("/").replace("/", ".")
    found = {
        test
        for module, tests in mapped.items()
        if f"{module}.".startswith(f"{name}.")
        for test in tests
    }
    folder = Path("tests", *name.split("."))
    if (root / folder).is_dir():
        # Tests that are inside the folder are not listed again.
        found = {test for test in found if folder not in Path(test).parents}
        found.add(folder.as_posix())
    return sorted(found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tests; return 2 for an unknown room, and print the names of rooms."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("room", help="such as stores, runtime or runtime/chat")
    room = parser.parse_args(arguments).room
    mapped = tomllib.loads(DATA.read_text(encoding="utf-8"))["tests"]
    if found := find_tests(room, mapped):
        print(*found)
        return 0
    rooms = sorted({module.partition(".")[0] for module in mapped})
    print(f"no tests of {room!r}; rooms are {', '.join(rooms)}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
