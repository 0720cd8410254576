"""Question files to edit, drafted from headings."""

import json

import pytest
from conftest import MakeProject

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

FILES = {
    "pumps.md": "# Pumps\n\nA pump has a seal.\n\n## Replacing the seal\n\nOnce a year.\n",
    "valves.md": "# Valves\n\nA valve has a stem.\n\n## Freeing a stem\n\nWith oil.\n",
}


def test_a_draft_has_headings_of_every_document_and_can_be_asked(
    make_project: MakeProject,
) -> None:
    project = make_project(FILES)
    project.succeed("build", "--quiet")
    file = project.root / "drafted.jsonl"
    said = project.succeed("eval", "--draft", str(file)).output
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert f"{file} written: {len(lines)} headings" in said
    assert {"query": "Replacing the seal", "relevant": ["pumps.md"]} in lines
    assert {name for line in lines[:2] for name in line["relevant"]} == FILES.keys()
    again = project.run("eval", "--draft", str(file))
    assert again.exit_code == 1
    assert "exists already" in again.stderr
    asked = project.succeed("eval", "--questions", str(file), "--min", "hit@3=1", "--quiet").output
    assert "questions, 2 documents" in asked


@pytest.mark.parametrize(
    "options",
    [
        ("--draft", "q.jsonl", "--tune"),
        ("--draft", "q.jsonl", "--min", "hit@3=1"),
        ("--draft", "q.jsonl", "--json"),
        ("--draft", "q.jsonl", "--tolerance", "0"),
        ("--tolerance", "0.05"),
        ("--tolerance", "0"),
        ("--tolerance", "0.01"),
    ],
)
def test_options_that_would_do_nothing_are_refused(
    options: tuple[str, ...], make_project: MakeProject
) -> None:
    project = make_project(FILES)
    result = project.run("eval", *options)
    assert result.exit_code == 2
    assert options[0] in result.stderr
    assert not (project.root / "q.jsonl").exists()


def test_without_questions_the_draft_command_is_named_first(make_project: MakeProject) -> None:
    project = make_project(FILES)
    project.succeed("build", "--quiet")
    said = project.succeed("eval", "--quiet").output
    assert f"foundry eval {project.root} --draft {project.root}/questions.jsonl" in said
    assert said.index("--draft") < said.index("nDCG@10")


def test_an_index_without_headings_has_no_draft(make_project: MakeProject) -> None:
    table = "id,text\n1,only text\n2,only other text\n"
    config = '[project]\nname = "notes"\n[[sources]]\ntype = "records"\npath = "t.csv"\n'
    project = make_project({"./t.csv": table}, config=config)
    project.succeed("build", "--quiet")
    result = project.run("eval", "--draft", str(project.root / "q.jsonl"))
    assert result.exit_code == 1
    assert "no headings" in result.stderr
    assert not (project.root / "q.jsonl").exists()
