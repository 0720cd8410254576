"""The examples of README.md and docs/, and a home folder to run them in."""

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from servers import in_checkout
from sharing import begin_foundry
from waiting import within

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
        # References are generated from the code that they describe.
        prose = re.sub(
            r"(?s)<!-- reference.*?<!-- end -->", lambda found: "\n" * found[0].count("\n"), text
        )
        for found in re.finditer(r"(?ms)^```(\w+)\n(.*?)^```$", prose):
            yield Example(page.name, prose[: found.start()].count("\n") + 1, found[1], found[2])


EXAMPLES = list(find_examples())


def of(*languages: str, without: tuple[str, ...] = ()) -> pytest.MarkDecorator:
    """Return a mark that runs a test with each example in these languages, except on some pages."""
    chosen = [each for each in EXAMPLES if each.language in languages and each.page not in without]
    assert chosen
    return pytest.mark.parametrize("example", chosen, ids=str)


def make_home(tmp_path: Path) -> Path:
    """Make a home folder with documents; `foundry` and `handbook` are commands there."""
    shutil.copytree(SOURCES, tmp_path / "docs")
    commands = tmp_path / ".bin"
    commands.mkdir()
    export = tmp_path / "handbook" / "dist" / "handbook"
    for name, begin in {"foundry": begin_foundry(), "handbook": in_checkout(export)}.items():
        command = commands / name
        command.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, begin))} "$@"\n')
        command.chmod(0o755)
    return tmp_path


def check_transcript(example: Example, home: Path) -> None:
    """Run each command of a transcript as typed, and compare its output."""
    for part in re.split(r"(?m)^\$ ", example.text)[1:]:
        command, _, output = part.partition("\n")
        assert normalized(run(command, home), home) == normalized(output, home), command


def run(command: str, home: Path) -> str:
    """Run a command as typed; returns its output. Servers are interrupted once they listen."""
    # Installation is tested by `make demo`, and by the tests of an installed export.
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
    with process, within(process, SECONDS):
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
    """Return the output's lines without durations, ports and local paths."""
    text = printed.replace(str(home), "/home/you")
    text = re.sub(r"(?<=docs-)[0-9a-f]{12}|(?<=:)\d{4,5}\b|(?<= in )[\d.]+(?= s\b)", "#", text)
    # Tables of durations end with a column of seconds, or with two of milliseconds.
    text = re.sub(r"(?m)(?<=,\d{3}) +[\d.]+$|(?: +\d+\.\d\d){2}$", " #", text)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line and not is_progress(line)]


def is_progress(line: str) -> bool:
    return bool(re.match(r"\d\d:\d\d:\d\d |[A-Z]\w+: \d+ of \d+ ", line))
