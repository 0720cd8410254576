"""Words missing from texts: reports count them, a limit fails builds, inspect shows them."""

import json
from typing import Any

import pytest
from conftest import MakeProject, Project

from foundry.readers.sandbox import processes

pytestmark = pytest.mark.usefixtures("forked_readers")

CONFIG = """
[project]
name = "notes"

[build]
duplicates = "keep"
{limit}
[[sources]]
type = "folder"
name = "notes"
path = "notes"
"""
FEED = "<feed><entry>Rain fell. Here are some lost words.</entry></feed>"
# A reader, in worker processes, that drops words without reporting it.
PLANTED = """
from dataclasses import replace
from foundry.readers.formats.xml.reader import READER
whole = READER.read
def read(content):
    reading, lost = whole(content), "Here are some lost words"
    return replace(reading, text=reading.text.replace(lost, " " * len(lost)))
object.__setattr__(READER, "read", read)
import runpy
"""
FILES = {
    "notes/feed.xml": FEED,
    "notes/pump.md": "# Pump\n\n<!-- an aside -->\n\nThe pump lifts water.\n",
    "notes/rain.md": "# Rain\n\nIt rains in May.\n",
}


def words_of(project: Project) -> dict[str, Any]:
    report = json.loads((project.index / "report.json").read_bytes())
    words = report["words"]
    assert isinstance(words, dict)
    return words


@pytest.fixture
def project(make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> Project:
    whole = processes._command

    def command(options: str) -> list[str]:
        *program, code, options = whole(options)
        return [*program, code.replace("import runpy; ", PLANTED), options]

    monkeypatch.setattr(processes, "_command", command)
    return make_project(FILES, config=CONFIG.format(limit=""))


def test_the_report_accounts_for_all_words(project: Project) -> None:
    said = project.succeed("build").stdout
    words = words_of(project)
    by_path = {entry["path"]: entry["words"] for entry in words["documents"]}
    assert by_path["feed.xml"] == {"source": 7, "read": 2, "left_out": {}, "unaccounted": 5}
    assert by_path["pump.md"] == {
        "source": 7,
        "read": 5,
        "left_out": {"comment": 2},
        "unaccounted": 0,
    }
    assert "rain.md" not in by_path
    assert (words["source"], words["read"]) == (19, 12)
    assert "19 words in the sources: 63.15 % read, 10.52 % left out (comment), 26.31 %" in said
    assert "notes: feed.xml: 5 unaccounted (71.42 %)" in said


def test_counts_after_a_change_equal_those_of_a_fresh_build(project: Project) -> None:
    project.succeed("build")
    (project.root / "notes/rain.md").write_text("# Rain\n\nIt rains in May and June.\n")
    project.succeed("build")
    changed = words_of(project)
    project.succeed("build", "--fresh")
    assert words_of(project) == changed
    assert changed["source"] == 21


def test_a_build_that_loses_more_than_allowed_fails_and_changes_nothing(project: Project) -> None:
    project.succeed("build")
    before = project.index
    (project.root / "foundry.toml").write_text(CONFIG.format(limit="max_unaccounted = 0.2"))
    failed = project.run("build")
    assert "26.32% of the sources' words" in failed.stderr
    assert "notes: feed.xml: 5 unaccounted" in failed.stderr
    assert project.index == before
    (project.root / "foundry.toml").write_text(CONFIG.format(limit="max_unaccounted = 0.3"))
    project.succeed("build")


def test_inspect_shows_the_words_and_why(project: Project) -> None:
    project.succeed("build")
    shown = project.succeed("inspect", "--left-out").stdout
    assert "comment: <!-- an aside -->" in shown
    assert "unaccounted: here are some lost words" in shown
    one = json.loads(project.succeed("inspect", "--json", "--left-out", "pump*").stdout)
    assert one["path"] == "pump.md"
    assert one["unaccounted"] == []
    assert "no document that matches" in project.run("inspect", "--left-out", "none.md").stderr


def test_unchanged_documents_that_are_read_again_are_counted(project: Project) -> None:
    assert "although unchanged" not in project.succeed("build").stdout
    options = "max_unaccounted = 0.9\n[chunking]\nmax_chars = 700\n"
    (project.root / "foundry.toml").write_text(CONFIG.format(limit=options))
    said = project.succeed("build").stdout
    assert "\n3 documents read again although unchanged, because Foundry, its libraries or" in said
    assert "although unchanged" not in project.succeed("build").stdout


@pytest.mark.parametrize(
    ("name", "table"),
    [
        (
            "faq.csv",
            "id,title,text,product,answer\n1,Rain,It rains.,umbrella,Take two coats.\n2,Sun,,,\n",
        ),
        (
            "faq.jsonl",
            '{"id": "1", "title": "Rain", "text": "It rains.", "product": "umbrella",'
            ' "answer": ["Take two coats."]}\n',
        ),
    ],
)
def test_columns_that_are_not_indexed_are_left_out(
    make_project: MakeProject, name: str, table: str
) -> None:
    config = f"""
    [project]
    name = "faq"
    [[sources]]
    type = "records"
    path = "{name}"
    metadata = ["product"]
    """
    project = make_project({f"./{name}": table}, config=config)
    said = project.succeed("build").stdout
    assert "left out (column)" in said
    assert words_of(project)["left_out"] == {"column": 3}
    shown = json.loads(project.succeed("inspect", "--left-out", "1", "--json").stdout)
    assert shown["left_out"] == [{"reason": "column", "place": "answer", "text": "Take two coats."}]
