"""Real texts that everybody has: the docstrings of Python and of Foundry's dependencies.

`python benchmarks/shipped.py FOLDER` writes them as a folder of Markdown, with a page for each
module with enough docstrings: its own, then a heading for each class and function with theirs. The
same interpreter and the same versions of the libraries (`uv.lock`) give the same pages. They are
not part of this repository.
"""

import argparse
import ast
import importlib.util
import inspect
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

LIBRARIES = ("numpy",)
LEAST_CHARS = 400
"""Minimum size of all docstrings of a module; shorter ones hardly say more than its name."""

LEFT_OUT = {"test", "tests", "testing", "idlelib", "lib2to3", "site-packages", "turtledemo"}

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def write_shipped(folder: Path) -> Path:
    """Write the pages below `folder`, unless they exist; returns the folder."""
    done = folder / ".complete"
    if not done.exists():
        for name, module in modules():
            page = page_of(name, module)
            if len(page) >= LEAST_CHARS:
                path = folder / f"{name.replace('.', '/')}.md"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(page, encoding="utf-8")
        done.touch()
    return folder


def modules() -> Iterator[tuple[str, Path]]:
    """Yield the dotted name and the file of each module, in order."""
    yield from _below(Path(sysconfig.get_path("stdlib")), "")
    for library in LIBRARIES:
        found = importlib.util.find_spec(library)
        if found is None or found.origin is None:
            raise SystemExit(f"{library} is not installed")
        yield from _below(Path(found.origin).parent, f"{library}.")


def _below(root: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if not LEFT_OUT.intersection(parts):
            yield prefix + ".".join(parts).removesuffix(".__init__"), path


def page_of(name: str, path: Path) -> str:
    """Return a module's docstrings as Markdown; nothing if it cannot be parsed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(path.read_bytes())
        except SyntaxError:
            return ""
    sections = [*_sections(name, tree, 1)]
    return "" if not any(text for _, text in sections) else _joined(sections)


def _sections(name: str, node: Documented, level: int) -> Iterator[tuple[str, str]]:
    text = ast.get_docstring(node) or ""
    if text or level == 1:
        yield f"{'#' * min(level, 6)} {name}", inspect.cleandoc(text)
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _sections(child.name, child, level + 1)


def _joined(sections: list[tuple[str, str]]) -> str:
    return "\n\n".join(part for section in sections for part in section if part) + "\n"


def main() -> int:
    """Write the pages, and print their number."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    pages = [*write_shipped(parser.parse_args().folder).rglob("*.md")]
    print(f"{len(pages):,} pages, {sum(page.stat().st_size for page in pages):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
