"""Our own documentation, served by our own export, answers newcomers' questions."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import Project

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

ROOT = Path(__file__).parent.parent
QUESTIONS = 40
LEAST = 0.95


@pytest.mark.slow
def test_answers_to_newcomers_are_among_the_first_three_results(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    project = Project(tmp_path / "examples" / "foundry-docs")
    project.root.mkdir(parents=True)
    for name in ("foundry.toml", "questions.jsonl"):
        shutil.copy(ROOT / "examples" / "foundry-docs" / name, project.root)
    project.succeed("build", "--quiet", "--strict")
    found = json.loads(project.succeed("eval", "--quiet", "--json").stdout)
    assert (found["questions"], found["missing"]) == (QUESTIONS, [])
    assert found["documents"] == len(list((ROOT / "docs").glob("*.md")))
    lost = [
        question["query"]
        for question in found["per_question"]
        if not question["values"]["hybrid"]["hit@3"]
    ]
    assert found["metrics"]["hybrid"]["hit@3"] >= LEAST, lost
