"""Command-line output: grouped help, completion, and progress with and without colours."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import MakeProject
from sharing import begin_foundry

from foundry.cli.main import GROUPS, main

COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|38|9[0-7])(?:;\d+)*m")


def test_help_lists_the_first_commands_first() -> None:
    said = CliRunner().invoke(main, ["--help"], terminal_width=80).stdout
    places = [said.index(f"\n{title}:\n") for title in GROUPS]
    assert places == sorted(places)
    names = re.findall(r"(?m)^  ([a-z]+) +[A-Z]", said)
    assert names == [name for modules in GROUPS.values() for name in modules]
    assert "..." not in said.partition("\n")[2]
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.parametrize(("typed", "offered"), [("ser", "serve"), ("export --expl", "--explain")])
def test_shells_complete_commands(typed: str, offered: str) -> None:
    words = f"foundry {typed}"
    place = str(len(words.split()) - 1)
    environment = {"_FOUNDRY_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": place}
    done = subprocess.run(
        [Path(sys.executable).with_name("foundry")],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [f"plain,{offered}"]


def on_a_terminal(*arguments: str | Path, **variables: str) -> str:
    """Run foundry with a terminal as standard error; returns its output."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", **variables}
    with subprocess.Popen(
        [*begin_foundry(), *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 65_536):
                said += part
        except OSError:
            # Linux reports the end of a terminal by this error.
            pass
        assert process.wait(120) == 0, said
    os.close(ours)
    return said.decode()


@pytest.mark.slow
def test_colours_are_for_terminals_that_want_them(make_project: MakeProject) -> None:
    project = make_project({"note.md": "# Pumps\n\nReplace the D40 seal yearly.\n"})
    assert COLOUR.search(on_a_terminal("build", project.root, "--fresh"))
    plain = on_a_terminal("build", project.root, "--fresh", NO_COLOR="1")
    assert plain and not COLOUR.search(plain)
    piped = subprocess.run(
        [*begin_foundry(), "build", project.root, "--fresh"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "\x1b" not in piped.stdout + piped.stderr
