"""Measures whether names find what they name: `python benchmarks/identifiers.py DATA [CORPUS ...]`.

DATA contains docs_srd51, docs_cpp and docs_fastmcp. Each is built completely with the default
configuration, and searched through a rendered server. Queries are only names:

- monsters: the names of the files in Monsters, without brackets at the end;
- functions of the C runtime library: those named in the first headings of its reference;
- options of the compiler and the linker: the beginnings of first headings in build/reference;
- classes and functions of FastMCP: the headings of the third level in its reference;
- section numbers: the beginnings of headings of the OpenMP specification and of code-quality.

A name is defined by the place from which it was taken, and by any document or section with exactly
this heading, except for punctuation and brackets at the end: `abs`, for example, is defined in two
libraries. A hit is right if it belongs to such a place. All names are searched for, and those whose
first hit is wrong are listed.

Titles of pages, of up to three words, are queries too, those of FastMCP also in the phrases of
`FRAMES`. For them, only a page with that title is right, not a section with that heading.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common import build, load_server, machine, make_project

FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^(#+)[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
IDENTIFIER = re.compile(r"[A-Za-z_]\w+")
OPTION = re.compile(r"[/-][A-Za-z][\w:+-]*")
TITLE = re.compile(r"\A---\n(?:.*\n)*?title: *([\"']?)(.+?)\1 *\n")
TITLE_WORDS = 3
MATTER = 4_000  # Maximum number of characters of front matter.
NUMBER = re.compile(r"(\d+(?:\.\d+)+) ")


@dataclass
class Case:
    """A name, the files that define it, and the headings of the sections that do."""

    name: str
    files: set[str] = field(default_factory=set)
    sections: set[tuple[str, str]] = field(default_factory=set)
    is_title: bool = False

    def is_right(self, path: str, title: str, section: list[str]) -> bool:
        """Return whether a hit belongs to a place that defines the name."""
        if self.is_title:
            return path in self.files
        headed = [plain(heading) for heading in (title, *section)]
        here = {(path, heading) for heading in headed}
        return path in self.files or self.name in headed or not here.isdisjoint(self.sections)


Cases = dict[str, Case]


def plain(heading: str) -> str:
    """Return a heading without marks, superscripts and the qualifier at its end."""
    text = re.sub(r"<sup>.*?</sup>|[`*]", "", heading)
    return re.sub(r"\s*\([^()]*\)$", "", text).replace("\\", "").strip()


def headings(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the level and the text of each heading."""
    text = FENCE.sub("", file.read_text(encoding="utf-8-sig"))
    for match in HEADING.finditer(text):
        yield len(match[1]), match[2]


def first_headings(root: Path, folder: str) -> Iterator[tuple[str, str]]:
    """Yield the path of each file below a folder, with its first heading without marks."""
    for file in sorted((root / folder).rglob("*.md")):
        title = next((text for level, text in headings(file) if level == 1), None)
        if title is not None:
            yield file.relative_to(root).as_posix(), title


def monsters(root: Path) -> Cases:
    """Return the names of monsters."""
    cases: Cases = {}
    for file in sorted((root / "Monsters").glob("*.md")):
        if file.name[0].isalpha():
            name = plain(file.stem)
            case = cases.setdefault(name, Case(name))
            case.files.add(file.relative_to(root).as_posix())
    return cases


def functions(root: Path) -> Cases:
    """Return the functions of the C runtime library."""
    cases: Cases = {}
    for path, title in first_headings(root, "docs/c-runtime-library/reference"):
        for name in plain(title).split(","):
            if IDENTIFIER.fullmatch(name.strip()):
                cases.setdefault(name.strip(), Case(name.strip())).files.add(path)
    return cases


def options(root: Path) -> Cases:
    """Return the options of the compiler and the linker."""
    cases: Cases = {}
    for path, title in first_headings(root, "docs/build/reference"):
        if (match := OPTION.match(plain(title))) is not None:
            cases.setdefault(match[0], Case(match[0])).files.add(path)
    return cases


def classes(root: Path) -> Cases:
    """Return the classes and functions of FastMCP's reference."""
    cases: Cases = {}
    for file in sorted((root / "docs" / "python-sdk").glob("*.mdx")):
        path = file.relative_to(root).as_posix()
        for level, text in headings(file):
            if level == 3 and IDENTIFIER.fullmatch(plain(text)):
                cases.setdefault(plain(text), Case(plain(text))).sections.add((path, plain(text)))
    return cases


def numbers(root: Path) -> Cases:
    """Return the section numbers."""
    cases: Cases = {}
    for folder in ("docs/parallel/openmp", "docs/code-quality"):
        for file in sorted((root / folder).glob("*.md")):
            path = file.relative_to(root).as_posix()
            for _, text in headings(file):
                if (match := NUMBER.match(plain(text))) is not None:
                    cases.setdefault(match[1], Case(match[1])).sections.add((path, plain(text)))
    return cases


def titles(root: Path) -> Cases:
    """Return the titles of pages: from front matter, or else the first headings."""
    cases: Cases = {}
    for file in sorted((root / "docs").rglob("*.md*")):
        own = TITLE.search(file.read_text(encoding="utf-8-sig")[:MATTER])
        title = own[2] if own else next((text for level, text in headings(file) if level == 1), "")
        if 0 < len(title.split()) <= TITLE_WORDS:
            case = cases.setdefault(title, Case(title, is_title=True))
            case.files.add(file.relative_to(root).as_posix())
    return cases


def framed(frame: str) -> Callable[[Path], Cases]:
    """Return a function for titles of pages within a phrase."""
    return lambda root: {frame.format(name): case for name, case in titles(root).items()}


FRAMES = ("What is {}?", "define {}", "the {} page", "{} reference")
SORTS: dict[str, dict[str, Callable[[Path], Cases]]] = {
    "docs_srd51": {"monsters": monsters},
    "docs_fastmcp": {
        "classes and functions": classes,
        "titles": titles,
        **{f"titles: {frame.format('...')}": framed(frame) for frame in FRAMES},
    },
    "docs_cpp": {
        "C functions": functions,
        "options": options,
        "section numbers": numbers,
        "titles": titles,
    },
}


def ask(search: Callable[..., Any], cases: Cases) -> tuple[int, int]:
    """Return how many are found first, and among the first three; prints the others."""
    first = among_three = 0
    for name, case in cases.items():
        hits = search(name, 3).hits
        right = [case.is_right(hit.path, hit.title, hit.section) for hit in hits]
        first += right[:1] == [True]
        among_three += any(right)
        if right[:1] != [True]:
            best = " > ".join([hits[0].path, *hits[0].section]) if hits else "nothing"
            print(f"  {'second or third' if any(right) else 'not in three'}: {name}; first: {best}")
    return first, among_three


def main() -> int:
    """Print the shares for each kind of name, and for all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("corpora", nargs="*", default=list(SORTS), metavar="CORPUS")
    chosen = parser.parse_args()
    print(machine())
    totals = [0, 0, 0]
    with tempfile.TemporaryDirectory() as work:
        for corpus in chosen.corpora:
            root = (chosen.data / corpus).resolve()
            project = make_project(Path(work) / corpus, f'type = "folder"\npath = "{root}"')
            built = build(project)
            print(f"{corpus}: {built.documents:,} documents, {built.chunks:,} chunks")
            search = load_server(project, f"benchmark_{corpus}").search_hybrid
            for sort, make in SORTS[corpus].items():
                cases = make(root)
                first, among_three = ask(search, cases)
                for place, count in enumerate((len(cases), first, among_three)):
                    totals[place] += count
                print(shares(sort, len(cases), first, among_three))
                sys.stdout.flush()
    print(shares("all", *totals))
    return 0


def shares(sort: str, count: int, first: int, among_three: int) -> str:
    """Return a row of the table."""
    return f"| {sort} | {count:,} | {first / count:.4f} | {among_three / count:.4f} |"


if __name__ == "__main__":
    sys.exit(main())
