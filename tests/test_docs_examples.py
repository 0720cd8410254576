"""The examples of README.md and docs/: what is shown there is run here.

Transcripts (`console`) are run in a home folder whose `docs` are the sources of examples/handbook,
and their output is compared; configuration is read, code is run in an export, and every other
command is at least parsed.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from conftest import CONFIG
from servers import in_checkout
from sharing import begin_foundry

from foundry.cli.main import main
from foundry.config.project import load_config
from foundry.config.synonyms import read_synonyms
from foundry.evaluation.questions import read_questions
from foundry.rendering.regions import cut_regions

pytestmark = pytest.mark.usefixtures("formatted_once")

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
SOURCES = ROOT / "examples" / "handbook" / "sources"
QUESTIONS = SOURCES.parent / "questions.jsonl"
SECONDS = 120


@dataclass(frozen=True)
class Example:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def find_examples() -> Iterator[Example]:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        # What stands in references is written by the code that it describes.
        prose = re.sub(
            r"(?s)<!-- reference.*?<!-- end -->", lambda found: "\n" * found[0].count("\n"), text
        )
        for found in re.finditer(r"(?ms)^```(\w+)\n(.*?)^```$", prose):
            yield Example(page.name, prose[: found.start()].count("\n") + 1, found[1], found[2])


EXAMPLES = list(find_examples())
DEVELOPING = "developing.md"


def of(*languages: str) -> pytest.MarkDecorator:
    chosen = [each for each in EXAMPLES if each.language in languages]
    assert chosen
    return pytest.mark.parametrize("example", chosen, ids=str)


def test_every_kind_of_example_is_tried() -> None:
    tried = {"console", "sh", "toml", "python", "json", "yaml", "text"}
    # In tests/test_search_box.py, by browsers.
    in_sites = {"html", "js", "yml"}
    found = {each.language for each in EXAMPLES if each.page == "search-box.md"} - tried
    assert found == in_sites
    assert {each.language for each in EXAMPLES} - in_sites <= tried


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with documents, where `foundry` and `handbook` are commands."""
    shutil.copytree(SOURCES, tmp_path / "docs")
    commands = tmp_path / ".bin"
    commands.mkdir()
    export = tmp_path / "handbook" / "dist" / "handbook"
    for name, begin in {"foundry": begin_foundry(), "handbook": in_checkout(export)}.items():
        command = commands / name
        command.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, begin))} "$@"\n')
        command.chmod(0o755)
    return tmp_path


@pytest.mark.slow
@of("console")
def test_a_transcript_shows_what_is_printed(example: Example, home: Path) -> None:
    if example.page == "evaluation.md":
        shutil.copy(QUESTIONS, home)
        run("foundry init handbook --source docs && foundry build handbook", home)
        shutil.move(home / "questions.jsonl", home / "handbook")
    for part in re.split(r"(?m)^\$ ", example.text)[1:]:
        command, _, output = part.partition("\n")
        assert normalized(run(command, home), home) == normalized(output, home), command


def run(command: str, home: Path) -> str:
    """Run a command as typed; returns what it prints. Servers are interrupted once they listen."""
    # Installing is tried by `make demo`, and by the tests of an installed export.
    command = re.sub(r"pip install \S+ && ", "", command)
    if serves := re.search(r"\b(foundry|handbook) serve\b", command):
        command = f"{command} --port 0"
    process = subprocess.Popen(
        ["sh", "-c", f"exec {command}" if serves else command],
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if serves else None,
        encoding="utf-8",
        env={
            **os.environ,
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "PATH": f"{home / '.bin'}{os.pathsep}{os.environ['PATH']}",
        },
    )
    assert process.stdout is not None
    with process:
        printed = ""
        for line in process.stdout:
            printed += line
            if serves and re.search(r"http://127\.0\.0\.1:\d+", line):
                process.send_signal(signal.SIGINT)
                break
        if serves:
            process.stdout.read()
        assert process.wait(SECONDS) in ({0, 130} if serves else {0}), printed
    return printed


def normalized(printed: str, home: Path) -> list[str]:
    """Return the lines of an output without durations, ports and the places of this machine."""
    text = printed.replace(str(home), "/home/you")
    text = re.sub(r"(?<=docs-)[0-9a-f]{12}|(?<=:)\d{4,5}\b|(?<= in )[\d.]+(?= s\b)", "#", text)
    # The last column of seconds, and the last two of milliseconds.
    text = re.sub(r"(?m)(?<=,\d{3}) +[\d.]+$|(?: +\d+\.\d\d){2}$", " #", text)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line and not is_progress(line)]


def is_progress(line: str) -> bool:
    return bool(re.match(r"\d\d:\d\d:\d\d |[A-Z]\w+: \d+ of \d+ ", line))


@of("sh", "yaml")
def test_a_command_can_be_parsed(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for written in ("baseline.json", *re.findall(r" > (\S+)", example.text)):
        (tmp_path / written).touch()
    found = re.findall(r"(?m)\bfoundry ([a-z]+\b[^#\n&']*)", example.text)
    for written in found:
        arguments = shlex.split(written.partition(" > ")[0])
        command = main.commands[arguments[0]]
        with command.make_context(arguments[0], arguments[1:]) as context:
            assert context.command is command
    if example.language == "yaml":
        assert yaml.safe_load(example.text)
    assert found or re.search(r"curl|make|pip|complete|COMPLETE", example.text)


@of("toml")
def test_configuration_is_accepted(example: Example, tmp_path: Path) -> None:
    written = tomllib.loads(example.text)
    base = CONFIG.partition("\n[[sources]]")[0] if "sources" in written else CONFIG
    text = example.text if "project" in written else f"{base}\n{example.text}"
    (tmp_path / "foundry.toml").write_text(text, encoding="utf-8")
    for folder in ("sources", "docs"):
        (tmp_path / folder).mkdir()
    assert load_config(tmp_path).sources


@of("json")
def test_questions_can_be_read(example: Example, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(example.text, encoding="utf-8")
    assert read_questions(file).questions


@of("text")
def test_synonyms_can_be_read(example: Example, tmp_path: Path) -> None:
    file = tmp_path / "synonyms.txt"
    file.write_text(example.text, encoding="utf-8")
    ((_, both), (left, right)), problems = read_synonyms(file, "english")
    assert not problems
    assert "forward kinematics" in both
    assert (list(left), list(right)) == (["k8s", "kube"], ["kubernetes"])


def test_what_was_not_chosen_is_cut_as_developers_are_told() -> None:
    [code] = (
        each.text for each in EXAMPLES if each.language == "python" and each.page == DEVELOPING
    )
    names = {"rerank": False, "rerank_service": False}
    assert cut_regions(code, names) == "class Scores:\n    keyword: float | None\n"
    whole = cut_regions(code, {**names, "rerank_service": True})
    assert whole == "class Scores:\n    keyword: float | None\n    rerank: float | None = None\n"


@pytest.mark.slow
def test_code_and_requests_find_what_they_ask_for(home: Path) -> None:
    run("foundry init handbook --source docs && foundry build handbook", home)
    run("foundry export handbook", home)
    [code] = (
        each.text for each in EXAMPLES if each.language == "python" and each.page != DEVELOPING
    )
    (home / "example.py").write_text(code, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(home / "handbook" / "dist" / "handbook")}
    done = subprocess.run(
        [sys.executable, home / "example.py"], capture_output=True, text=True, env=environment
    )
    assert "Air quantity" in done.stdout.splitlines()[0], done.stderr

    [request] = (each.text for each in EXAMPLES if "curl" in each.text)
    body = json.loads(shlex.split(request)[-1])
    filters = [f"--filter={name}={value}" for name, [value] in body["filters"].items()]
    asked = ["handbook", "search", body["query"], "--top-k", str(body["top_k"]), *filters]
    assert "Air quantity" in run(shlex.join(asked), home)
