"""Are security advisories found, and whole? `python benchmarks/advisories.py`.

25 made-up advisories in each of four formats, of .6 to 2.1 KB: each is asked for by its package and
its flaw, and the first result says the package, what the flaw is, and the version in which it is
mended, or not.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from common import build, load_server, machine, make_project


class Advisory(NamedTuple):
    """A package, the version that is not affected any more, and the flaw, shortly and at length."""

    package: str
    version: str
    flaw: str
    story: str


PACKAGES = ("gatepost", "tarfold", "quillcore", "ripcord", "skiplock")
FLAWS = (
    *("writes outside of its folder", "keeps old sessions", "reads beyond the end of its buffer"),
    *("runs commands in names of files", "waits forever for a lock"),
)


def make_advisory(number: int) -> Advisory:
    """A made-up advisory; the higher its number, the longer."""
    package, version = f"{PACKAGES[number % 5]}-{number}", f"{number % 7}.{number}.3"
    flaw = f"{package} {FLAWS[number // 5]} when it reads what others sent"
    story = f"{flaw}. " + "Whoever sends such input may do so again until it is mended. " * (
        number + 1
    )
    return Advisory(package, version, flaw, story)


def write_advisory(form: str, number: int, advisory: Advisory) -> str:
    """An advisory as YAML, JSON (OSV), TOML, or Markdown below a block of TOML (RustSec)."""
    package, version, flaw, story = advisory
    name, alias, link = (
        f"AD-2024-{number:04}",
        f"CVE-2024-{40_000 + number}",
        "https://example.org/",
    )
    if form == "json":
        ranges = [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": version}]}]
        affected = [{"package": {"ecosystem": "PyPI", "name": package}, "ranges": ranges}]
        entry = {"id": name, "aliases": [alias], "summary": flaw, "details": story}
        references = [{"type": "ADVISORY", "url": link + name}]
        return json.dumps({**entry, "affected": affected, "references": references}, indent=2)
    if form == "yml":
        above = (
            f"id: {name}\naliases:\n  - {alias}\npackage:\n  ecosystem: pypi\n  name: {package}\n"
        )
        story = f"description: |\n  {story}\n"
        return f"{above}{story}fixed_in:\n  - {version}\nreferences:\n  - {link}{name}\n"
    above = f'id = "{name}"\naliases = ["{alias}"]\n'
    mended = f'[versions]\npatched = [">= {version}"]\n'
    if form == "toml":
        return f'{above}description = "{story}"\n\n[package]\nname = "{package}"\n\n{mended}'
    block = f'[advisory]\n{above}package = "{package}"\n\n{mended}'
    return f"```toml\n{block}```\n\n# {flaw}\n\n{story}\n\n## Impact\n\nPrograms may stop.\n"


def compare_advisories(work: Path) -> None:
    """Print for each format how many advisories are found first, and are whole there."""
    print(
        "\n| format | advisories | chunks | found first | package, flaw and mended version shown |"
    )
    print("|---|---|---|---|---|")
    advisories = [make_advisory(number) for number in range(25)]
    for form in ("yml", "json", "toml", "md"):
        root = work / f"advisories_{form}"
        root.mkdir()
        for number, advisory in enumerate(advisories):
            text = write_advisory(form, number, advisory)
            (root / f"{number}.{form}").write_text(text, encoding="utf-8")
        source = f'type = "folder"\npath = "{root}"'
        project = make_project(work / f"project_{form}", source)
        chunks = build(project).chunks
        search = load_server(project, f"advisories_{form}").search_hybrid
        first = shown = 0
        for number, advisory in enumerate(advisories):
            hit = search(advisory.flaw, 1).hits[0]
            first += Path(hit.path).stem == str(number)
            shown += all(said in hit.text for said in advisory[:3])
        print(f"| {form} | {len(advisories)} | {chunks} | {first} | {shown} |")
        sys.stdout.flush()


def main() -> int:
    """Print the table."""
    print(machine())
    with tempfile.TemporaryDirectory() as work:
        compare_advisories(Path(work))
    return 0


if __name__ == "__main__":
    sys.exit(main())
