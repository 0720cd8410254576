"""Every figure in the docs is in the list, and occurs where the list says."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BENCHMARKS = ROOT / "benchmarks"
LIST = tomllib.loads((BENCHMARKS / "results" / "figures.toml").read_text(encoding="utf-8"))
FIGURES = LIST["figures"]

# Numbers of metrics (nDCG@10), addresses and ports are not figures.
NUMBER = re.compile(r"(?<![\w@.:/])\d[\d,]*(?:\.\d+)?(?![\w.:/])")

# A measured number: a share, a processor time, a size.
MEASURED = re.compile(r"\d[\d,.]*(?: (?:to|or) \d[\d,.]*)? (?:%|ms|µs|[KMGT]B)(?!\w)")

# The changelog contains historical figures.
PAGES = ["README.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))]
PAGES.remove("docs/changelog.md")


def flat(text: str) -> str:
    """Return a text with every run of white space replaced by one space."""
    return " ".join(text.split())


def read(path: Path) -> str:
    """Return a page's text with normalised white space."""
    return flat(path.read_text(encoding="utf-8"))


def section(page: str, heading: str) -> str:
    """Return the text under a heading, up to the next one."""
    text = "\n" + (ROOT / page).read_text(encoding="utf-8")
    _, _, below = text.partition(f"\n{heading}\n")
    assert below, f"{page} has no {heading}"
    return flat(re.split(r"(?m)^## ", below)[0])


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure["says"])
def test_every_listed_figure_is_in_the_docs(figure: dict[str, str]) -> None:
    assert flat(figure["says"]) in read(ROOT / figure["page"])
    assert flat(figure["kept"]) in read(BENCHMARKS / "results" / figure["in"])


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure["says"])
def test_a_figure_names_the_command_that_prints_it(figure: dict[str, str]) -> None:
    script = figure["command"].split()[0]
    assert (BENCHMARKS / script).is_file()
    assert f"`{script}" in read(BENCHMARKS / "README.md")


@pytest.mark.parametrize("place", LIST["complete"], ids=lambda place: place["page"])
def test_every_figure_of_the_docs_is_listed(place: dict[str, str]) -> None:
    text = section(place["page"], place["heading"])
    for figure in FIGURES:
        if figure["page"] == place["page"]:
            text = text.replace(flat(figure["says"]), "")
    for told in place.get("none", []):
        assert told in text
        text = text.replace(told, "")
    assert not NUMBER.findall(text)


@pytest.mark.parametrize("page", PAGES)
def test_every_measured_figure_is_listed(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    text = flat(re.sub(r"(?ms)^ *```.*?^ *```$", "", text))
    given = LIST["given"].get(page, [])
    assert all(said in text for said in given)
    listed = [flat(figure["says"]) for figure in FIGURES if figure["page"] == page]
    for said in [*listed, *given]:
        text = text.replace(said, "")
    assert not MEASURED.findall(text)
