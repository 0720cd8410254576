"""The examples in README.md and docs/ work as shown.

Transcripts (`console`) are run in a home folder whose `docs` are the sources of examples/handbook,
and their output is compared. Configuration is read, code is run in an export, and all other
commands are at least parsed.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from conftest import CONFIG
from doc_examples import EXAMPLES, QUESTIONS, Example, check_transcript, make_home, of, run
from pydantic import TypeAdapter

from foundry.cli.main import load_command
from foundry.config.project import load_config
from foundry.config.synonyms import read_synonyms
from foundry.evaluation.questions import read_questions
from foundry.runtime.retrieval.results import Facets

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")


def test_every_kind_of_example_is_tested() -> None:
    tried = {"console", "sh", "toml", "python", "json", "yaml", "text", "sql", "jinja"}
    # Browsers test these in tests/test_search_box.py; SQL is tested in tests/test_store_servers.py.
    in_sites = {"html", "js", "yml"}
    found = {each.language for each in EXAMPLES if each.page == "search-box.md"} - tried
    assert found == in_sites
    assert {each.language for each in EXAMPLES} - in_sites <= tried


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path)


@pytest.mark.slow
@of("console", without=("tutorial.md",))
def test_a_transcript_shows_what_is_printed(example: Example, home: Path) -> None:
    if example.page == "evaluation.md":
        shutil.copy(QUESTIONS, home)
        run("foundry init handbook --source docs && foundry build handbook", home)
        shutil.move(home / "questions.jsonl", home / "handbook")
    check_transcript(example, home)


@of("sh", "yaml")
def test_a_command_can_be_parsed(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    logs = re.findall(r"--log (\S+)", example.text)
    for written in ("baseline.json", *logs, *re.findall(r" > (\S+)", example.text)):
        (tmp_path / written).touch()
    found = re.findall(r"(?m)\bfoundry ([a-z]+\b[^#\n&']*)", example.text)
    for written in found:
        arguments = shlex.split(written.partition(" > ")[0])
        command = load_command(arguments[0])
        with command.make_context(arguments[0], arguments[1:]) as context:
            assert context.command is command
    if example.language == "yaml":
        assert yaml.safe_load(example.text)
        return
    others = r"curl|make|pip|complete|COMPLETE|handbook (serve|eval)"
    assert found or re.search(others, example.text)


@of("toml")
def test_configuration_is_accepted(example: Example, tmp_path: Path) -> None:
    written = tomllib.loads(example.text)
    base = CONFIG.partition("\n[[sources]]")[0] if "sources" in written else CONFIG
    text = example.text if "project" in written else f"{base}\n{example.text}"
    (tmp_path / "foundry.toml").write_text(text, encoding="utf-8")
    for folder in ("sources", "docs"):
        (tmp_path / folder).mkdir()
    assert load_config(tmp_path).sources


@of("json", without=("recipes.md", "http-and-mcp.md", "security.md"))
def test_questions_can_be_read(example: Example, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(example.text, encoding="utf-8")
    assert read_questions(file).questions


def test_facet_examples_match_responses() -> None:
    [shown] = (
        each.text for each in EXAMPLES if (each.page, each.language) == ("http-and-mcp.md", "json")
    )
    facets = TypeAdapter(Facets).validate_json(json.dumps(json.loads(shown)["facets"]))
    assert facets.counted == 100
    assert [each.filter for each in facets.filters] == ["path", "tags"]


@of("text")
def test_synonyms_can_be_read(example: Example, tmp_path: Path) -> None:
    file = tmp_path / "synonyms.txt"
    file.write_text(example.text, encoding="utf-8")
    ((_, both), (left, right)), problems = read_synonyms(file, "english")
    assert not problems
    assert "forward kinematics" in both
    assert (list(left), list(right)) == (["k8s", "kube"], ["kubernetes"])


@pytest.mark.slow
def test_code_and_request_examples_find_results(home: Path) -> None:
    run("foundry init handbook --source docs && foundry build handbook", home)
    run("foundry export handbook", home)
    environment = {**os.environ, "PYTHONPATH": str(home / "handbook" / "dist" / "handbook")}
    shown = ("python-and-answers.md", "python")
    [code] = (each.text for each in EXAMPLES if (each.page, each.language) == shown)
    (home / "example.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, home / "example.py"], capture_output=True, text=True, env=environment
    )
    assert done.stdout.startswith("strong ["), done.stderr

    [request] = (
        each.text for each in EXAMPLES if "curl" in each.text and each.page == "http-and-mcp.md"
    )
    body = json.loads(shlex.split(request)[-1])
    filters = [f"--filter={name}={value}" for name, [value] in body["filters"].items()]
    asked = ["handbook", "search", body["query"], "--top-k", str(body["top_k"]), *filters]
    assert "Air quantity" in run(shlex.join(asked), home)
