"""Questions drafted from a server's question log."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import MakeProject, Project

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

FILES = {
    "pumps.md": "# Pumps\n\nA pump has a seal.",
    "valves.md": "# Valves\n\nA valve has a stem.",
}


@pytest.fixture
def project(make_project: MakeProject) -> Project:
    made = make_project(FILES)
    made.succeed("build", "--quiet")
    return made


def ids(project: Project) -> dict[str, str]:
    lines = (project.index / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["path"]: record["id"] for record in map(json.loads, lines)}


def write(file: Path, *lines: dict[str, Any] | str) -> Path:
    written = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    file.write_text("".join(f"{line}\n" for line in written), encoding="utf-8")
    return file


def asked(query: str, *documents: str, match: str = "weak") -> dict[str, Any]:
    return {"day": "2026-01-01", "query": query, "match": match, "documents": list(documents)}


def thumb(query: str, document: str, way: str = "up") -> dict[str, Any]:
    return {"day": "2026-01-01", "query": query, "document": document, "thumb": way}


def test_questions_are_counted_and_the_most_frequent_come_first(project: Project) -> None:
    pump, valve = (ids(project)[name] for name in ("pumps.md", "valves.md"))
    log = write(
        project.root / "log.jsonl",
        asked("Grease?", valve, match="none"),
        asked("who greases it", pump, match="none"),
        asked("Who  greases it?", pump, valve),
        "",
        asked("Who greases it?", "gone", pump),
        thumb("who greases it", pump),
        thumb("who greases it", valve, "down"),
    )
    more = write(
        project.root / "log.jsonl.1",
        asked("Who greases it?", match="none"),
        thumb("how tall", valve),
        thumb("how tall", pump),
        thumb("how tall", pump, "down"),
        thumb("how tall", "gone"),
    )
    file = project.root / "drafted.jsonl"
    arguments = ("questions", "--log", str(log), "--log", str(more))
    said = project.succeed(*arguments, "--draft", str(file))
    assert [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] == [
        {
            "query": "Who greases it?",
            "relevant": ["pumps.md"],
            "asked": 4,
            "match": "weak",
            "shown": ["pumps.md", "valves.md"],
        },
        {"query": "Grease?", "relevant": [], "asked": 1, "match": "none", "shown": ["valves.md"]},
        {"query": "how tall", "relevant": ["valves.md"], "asked": 0, "match": None, "shown": []},
    ]
    assert said.stderr == ""
    assert said.stdout.splitlines()[:5] == [
        "query            asked  match  relevant",
        "Who greases it?      4   weak         1",
        "Grease?              1   none         0",
        "how tall             0      -         1",
        "3 questions",
    ]
    assert f"{file} written, with 1 question without a relevant document" in said.stdout
    # An edited file is never overwritten, and its questions are not drafted again.
    again = project.run(*arguments, "--draft", str(file))
    assert (again.exit_code, "exists already" in again.stderr) == (1, True)
    write(
        project.root / "questions.jsonl", {"query": "GREASE", "relevant": ["pumps.md"]}, "{", "[]"
    )
    found = json.loads(project.succeed(*arguments, "--json").stdout)
    assert [one["query"] for one in found["questions"]] == ["Who greases it?", "how tall"]
    assert (found["known"], found["bad_lines"]) == (1, [])
    listed = project.succeed(*arguments).stdout
    assert "2 questions, without 1 that questions.jsonl has already" in listed


def test_a_completed_draft_can_be_evaluated(project: Project) -> None:
    log = write(project.root / "log.jsonl", thumb("what has a seal", ids(project)["pumps.md"]))
    file = project.root / "drafted.jsonl"
    project.succeed("questions", "--log", str(log), "--draft", str(file))
    done = project.succeed("eval", "--questions", str(file), "--min", "hit@1=1", "--quiet")
    assert "1 question, 2 documents" in done.stdout
    write(log, asked("what has no seal"))
    file.unlink()
    project.succeed("questions", "--log", str(log), "--draft", str(file))
    refused = project.run("eval", "--questions", str(file), "--quiet")
    assert f"{file}, line 1: relevant must name at least one document" in refused.stderr


BAD: dict[str, dict[str, Any] | str] = {
    "not JSON": "{",
    "not an object with a query": "[]",
    "the query cannot be asked": {"query": " ?! ", "match": "weak", "documents": []},
    "must have a match (weak or none) and documents, or a thumb": asked("a", match="strong"),
    "thumb must be up or down, and document an id": {"query": "a", "thumb": "up"},
}


def test_bad_lines_are_named_and_skipped(project: Project) -> None:
    others: list[dict[str, Any] | str] = [
        {"query": 5},
        {"query": "x" * 2_001, "match": "weak", "documents": []},
        {"query": "a", "match": "weak", "documents": [5]},
        {"query": "a", "match": "weak"},
        thumb("a", "b", "sideways"),
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ]
    log = write(project.root / "log.jsonl", *BAD.values(), *others, asked("who\x1b[31m greases it"))
    done = project.succeed("questions", "--log", str(log))
    assert f"warning: {len(BAD) + len(others)} lines of the log skipped" in done.stderr
    for number, reason in enumerate(BAD, start=1):
        assert f"  {log}, line {number}: {reason}\n" in done.stderr
    assert "who [31m greases it      1   weak" in done.stdout
    assert "1 question" in done.stdout


def test_a_log_without_a_project_is_refused(project: Project) -> None:
    result = project.run("questions")
    assert (result.exit_code, "--log" in result.stderr) == (2, True)
    result = project.run("questions", "--log", "absent.jsonl")
    assert (result.exit_code, "absent.jsonl" in result.stderr) == (2, True)
