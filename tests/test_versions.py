"""Versions recognised from folders: from `foundry init` to the results of a search."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import Project

from foundry.cli.main import main
from foundry.config.sources import FolderSource
from foundry.serving.adopt import adopt
from foundry.serving.options import Adopted
from foundry.sources.versions import find_versions, recognise_versions

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_readers", "forked_servers")

DATES = ("2024-11-05", "2025-03-26", "2025-06-18", "draft")


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    return folder


def specification() -> dict[str, str]:
    """Three pages in four versions: one never changes, one with the year, one only in the draft."""
    same = "# Roots\n\nA server asks the client for the roots that it may look into.\n"
    return {
        f"{version}/{page}.md": text
        for version in DATES
        for page, text in {
            "client/roots": same,
            "client/elicitation": "# Elicitation\n\nA server asks the person for what it lacks."
            f" Forms of the kind {version[:4]} are filled in by the person.\n",
            "server/tools": "# Tools\n\nA model calls tools by their names"
            f"{', and waits for them' * (version != 'draft')}.\n",
        }.items()
    } | {"welcome.md": "# Welcome\n\nThis is where one begins.\n"}


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    """Return a built project that `init` created, and the output of `init`."""
    root = tmp_path_factory.mktemp("versions")
    write(root / "spec", specification())
    arguments = ["init", str(root), "--source", str(root / "spec")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    project = Project(root)
    project.succeed("build", "--quiet")
    return project, result.output


def test_init_reports_recognised_versions_and_how_to_undo_it(begun: tuple[Project, str]) -> None:
    project, said = begun
    (line,) = (line for line in said.splitlines() if "newest first" in line)
    assert "2025-06-18, 2025-03-26, 2024-11-05, draft" in line
    assert "[search.versions]" in line and "undo" in line
    config = tomllib.loads((project.root / "foundry.toml").read_text(encoding="utf-8"))
    assert config["search"]["versions"] == {
        "folders": ["2025-06-18", "2025-03-26", "2024-11-05", "draft"]
    }


def test_a_page_is_one_hit_that_lists_its_other_versions(begun: tuple[Project, str]) -> None:
    project, _ = begun
    for query in ("elicitation form", "roots that a server may look into", "which tools"):
        answer = project.ask(query)
        pages = [hit["path"].partition("/")[2] for hit in answer["results"]]
        assert len(pages) == len(set(pages)), query
        first = answer["results"][0]
        assert first["path"].startswith("2025-06-18/")
        named = {place["path"].partition("/")[0] for place in first["also_at"]}
        assert named == {"2025-03-26", "2024-11-05", "draft"}


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("2024-11-05 elicitation", "2024-11-05/client/elicitation.md"),
        ("roots in 2025-03-26", "2025-03-26/client/roots.md"),
        ("draft tools", "draft/server/tools.md"),
    ],
)
def test_the_version_named_in_a_query_is_shown(
    begun: tuple[Project, str], query: str, path: str
) -> None:
    answer = begun[0].ask(query)
    assert answer["results"][0]["path"] == path
    assert answer["unknown_identifiers"] == []


def test_a_new_version_is_reported(begun: tuple[Project, str], tmp_path: Path) -> None:
    project = begun[0].copy(tmp_path / "copied")
    assert "does not name" not in project.succeed("build").stdout
    newest = {
        path.replace("2025-06-18", "2025-11-25"): text
        for path, text in specification().items()
        if path.startswith("2025-06-18")
    }
    write(project.root / "spec", newest | {"2026/party.md": "# Party\n\nA party.\n"})
    said = project.succeed("build").stdout
    assert 'folders of versions that [search.versions] does not list: "2025-11-25"' in said


def test_serve_recognises_versions_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    found = adopt(str(write(tmp_path / "docs", specification())))
    assert isinstance(found, Adopted)
    assert "2025-06-18, 2025-03-26, 2024-11-05, draft" in found.versions
    written = (found.project / "foundry.toml").read_text(encoding="utf-8")
    assert tomllib.loads(written)["search"]["versions"]["folders"][0] == "2025-06-18"


GUIDE = "# Guide\n\nOpen the valve, start the pump and read the gauge beside it."
SETUP = "# Setup\n\nPut the pump on level ground and connect both of its hoses."


def found_in(files: Mapping[str, str]) -> list[str]:
    return find_versions(sorted(files), files.get)


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        (["v1", "v2"], ["v2", "v1"]),
        (["1.2", "1.10", "1.x"], ["1.x", "1.10", "1.2"]),
        (["2.0", "2.0-rc1", "2.0-beta"], ["2.0", "2.0-beta", "2.0-rc1"]),
        (
            ["v2.x", "latest", "stable", "main", "next"],
            ["latest", "stable", "v2.x", "main", "next"],
        ),
        (["docs", "docs/v2"], ["docs", "docs/v2"]),
        (["", "v2", "v3"], ["", "v3", "v2"]),
        (["", "v2", "latest"], ["latest", "", "v2"]),
        (["en/v1", "en/v2", "de/v1", "de/v2"], ["de/v2", "en/v2", "de/v1", "en/v1"]),
        (["alpha", "beta"], []),
        (["v1"], []),
    ],
)
def test_folders_are_ordered_by_age(folders: list[str], expected: list[str]) -> None:
    pages = {"guide.md": GUIDE, "more/setup.md": SETUP}
    files = {f"{folder}/{page}".lstrip("/"): pages[page] for folder in folders for page in pages}
    assert found_in(files) == expected


def test_folders_that_only_look_like_versions_are_not_versions() -> None:
    posts = {
        f"{year}/{month}/post-{year}-{month}.md": GUIDE for year in (2023, 2024) for month in (1, 2)
    }
    product = {f"v8/{page}.md": GUIDE for page in "abc"} | {"pump.md": GUIDE, "hose.md": SETUP}
    standards = {
        "rfc/2616/text.md": "# HTTP\n\nMessages are sent between clients and servers.",
        "rfc/7159/text.md": "# JSON\n\nValues are written as objects, arrays, numbers, strings.",
    }
    chapters = {
        "1/exercise.md": "# Exercise\n\nWrite a loop that counts to ten.",
        "1/solution.md": "# Solution\n\nfor number in range(10): print(number)",
        "2/exercise.md": "# Exercise\n\nImplement a class for bank accounts.",
        "2/solution.md": "# Solution\n\nclass Account: balance = 0",
    }
    generic = {f"v{n}/{page}": GUIDE for n in (1, 2) for page in ("README.md", f"{n}.md")}
    for files in (posts, product, standards, chapters, generic):
        assert found_in(files) == []
    many = {f"{number}/guide.md": GUIDE for number in range(101)}
    assert found_in(many) == []


def test_files_of_common_names_are_not_counted() -> None:
    files = {
        f"v{n}/{page}.md": GUIDE
        for n in (1, 2)
        for page in ("README", "changelog", "guide", f"{n}", f"more {n}")
    }
    assert found_in(files) == []
    assert found_in({name: text for name, text in files.items() if "more" not in name}) == [
        "v2",
        "v1",
    ]


def test_a_single_page_beside_versions_is_one_of_them() -> None:
    files = {f"v{n}/more/{page}.md": GUIDE for n in (2, 3) for page in "abc"}
    assert found_in({**files, "more/a.md": GUIDE}) == ["", "v3", "v2"]


def test_versions_are_found_beside_unrelated_folders() -> None:
    files = {f"{folder}/guide.md": GUIDE for folder in ("v1", "v2")}
    years = {f"{year}/post-{year}.md": SETUP for year in range(2020, 2024)}
    assert found_in(files | years) == ["v2", "v1"]


def test_a_page_that_many_others_surround_is_compared() -> None:
    others = {f"v2/{number:03}.md": SETUP for number in range(100)}
    assert found_in({**others, "v1/seal.md": GUIDE, "v2/seal.md": GUIDE}) == ["v2", "v1"]


def test_eight_pages_of_two_folders_are_compared() -> None:
    files = {f"v1/{number:02}.md": GUIDE for number in range(18)}
    # Every second file is read, and half of those must be alike.
    files |= {f"v2/{number:02}.md": GUIDE if number < 8 else SETUP for number in range(18)}
    assert found_in(files) == ["v2", "v1"]
    assert found_in({**files, "v2/06.md": SETUP}) == []


def test_each_folder_is_compared_with_two_others() -> None:
    texts = [GUIDE, SETUP, "# Hose\n\nEvery spring, each of the hoses is replaced."]
    written = {f"v{n}/a.md": texts[min(n, 3) - 1] for n in (1, 2, 3, 4)}
    assert found_in(written) == []
    assert found_in({**written, "v2/a.md": texts[2]}) == ["v4", "v3", "v2"]


def recognised_in(folder: Path) -> list[str]:
    return recognise_versions(FolderSource(name="docs", path=folder))


def test_pages_without_text_are_not_compared(tmp_path: Path) -> None:
    pages = {f"v{n}/guide.md": GUIDE for n in (1, 2)}
    write(tmp_path, {**pages, "v1/empty.md": "", "v2/empty.md": ""})
    assert recognised_in(tmp_path) == ["v2", "v1"]


@pytest.mark.parametrize(("place", "expected"), [(199_999, []), (200_000, ["v2", "v1"])])
def test_only_the_beginning_of_a_page_is_compared(
    place: int, expected: list[str], tmp_path: Path
) -> None:
    text = f"{GUIDE}\n".ljust(place) + "\0"
    write(tmp_path, {f"v{n}/guide.md": text for n in (1, 2)})
    assert recognised_in(tmp_path) == expected
