"""The command line itself: messages, exit codes, start-up and shutdown."""

import errno
import io
import json
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import CONFIG, MakeProject

from foundry.building.documents import workers
from foundry.cli.main import main
from foundry.documents import RawDocument
from foundry.errors import ExportError
from foundry.export.replacing import replace_folder
from foundry.indexing import versions as published
from foundry.progress import Bar, Lines, Progress, Reporter
from foundry.readers.sandbox.processes import Sandbox

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

NOTE = {"note.md": "# Pumps\n\nReplace the D40 seal yearly.\n"}

INTERRUPTED = """
import sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "foundry.pipeline":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
from foundry.__main__ import main
main()
"""


def test_interrupt_while_modules_are_loaded_prints_no_traceback() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr == "error: interrupted\n"


def test_projects_that_cannot_be_begun_or_watched_are_named(tmp_path: Path) -> None:
    file = tmp_path / "note.md"
    file.write_text(NOTE["note.md"])
    begun = CliRunner().invoke(main, ["init", str(file), "--source", str(tmp_path)])
    assert begun.exit_code == 1
    assert f"{file}: is not a folder" in begun.stderr
    watched = CliRunner().invoke(main, ["watch", str(tmp_path / "nowhere")])
    assert watched.exit_code == 2
    assert "create one: foundry init" in watched.stderr


NOISY = """
import logging, sys, warnings
from foundry import pipeline
from foundry.cli.main import main

def noisy(*arguments):
    from tqdm import tqdm
    library = logging.getLogger("library")
    library.addHandler(logging.StreamHandler())
    library.error("loud log")
    warnings.simplefilter("always")
    warnings.warn("loud warning")
    list(tqdm(range(3), desc="loud bar"))
    logging.getLogger("foundry.anything").warning("own warning")
    return build(*arguments)

build, pipeline.build = pipeline.build, noisy
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("quiet", [True, False])
def test_quiet_silences_libraries_too(make_project: MakeProject, quiet: bool) -> None:
    project = make_project(NOTE)
    options = ["--quiet"] if quiet else []
    done = subprocess.run(
        [sys.executable, "-c", NOISY, "build", str(project.root), *options],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "1 document, 1 chunk in" in done.stdout
    assert "own warning" in done.stderr
    heard = {word for word in ("log", "warning", "bar") if f"loud {word}" in done.stderr}
    assert heard == (set() if quiet else {"log", "warning", "bar"})


def test_libraries_are_silenced_only_temporarily(
    make_project: MakeProject, caplog: pytest.LogCaptureFixture
) -> None:
    before = dict(os.environ)
    make_project(NOTE).succeed("build", "--quiet")
    assert dict(os.environ) == before
    logging.getLogger("library").warning("heard")
    assert caplog.messages == ["heard"]


def test_no_progress_if_standard_error_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with Reporter().step("Reading", "documents", 3) as step:
        step.advance()
    assert type(step) is Progress


def test_messages_contain_no_terminal_control_codes(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["build", str(tmp_path / "a\x1b[31mb\nc")], color=True)
    assert result.exit_code == 2
    assert "a\\x1b[31mb" in result.stderr
    assert "\x1b" not in result.stderr


def test_json_contains_no_terminal_control_codes(make_project: MakeProject) -> None:
    commands = "".join(map(chr, (0x1B, *range(0x7F, 0xA0), 0x200E, 0x202E, 0x2028, 0x2066)))
    text = f"# Pumps {commands}\n\nReplace the seal"
    table = json.dumps({"id": "a", "title": text, "text": text}) + "\n"
    config = CONFIG.replace('"folder"', '"records"').replace('"sources"', '"table.jsonl"')
    project = make_project({"./table.jsonl": table}, config=config)
    project.succeed("build")
    for arguments in (
        ("query", f"pumps {commands}", "--json"),
        ("inspect", "--documents", "--json"),
        ("inspect", "--document", "a", "--json"),
        ("inspect", "--json"),
        ("build", "--json"),
        ("verify", "--json"),
    ):
        printed = project.succeed(*arguments).stdout
        assert not set(printed) & set(commands), arguments
        json.loads(printed)
    assert "\x1b" in project.ask(f"pumps {commands}")["query"]


def test_queries_that_cannot_be_asked_are_usage_errors(make_project: MakeProject) -> None:
    project = make_project(NOTE)
    project.succeed("build")
    for arguments, said in (
        (("query", "pumps", "--filter", "nope=1"), "unknown filter 'nope'"),
        (("query", "\udcff"), "not valid UTF-8"),
        (("query", "-q"), "Put -- before a query that begins with a dash."),
        (("eval", "--min", "nope=1"), "unknown metric 'nope'"),
    ):
        result = project.run(*arguments)
        assert result.exit_code == 2
        assert said in result.stderr
        assert "Traceback" not in result.stderr


def test_index_of_another_version_has_a_hint_to_rebuild(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(NOTE)
    project.succeed("build")
    monkeypatch.setattr(published, "TOKENIZER_VERSION", -1)
    for command in ("verify", "inspect", "export", "eval"):
        result = project.run(command)
        assert result.exit_code == 1
        assert f"hint: build it again: foundry build {project.root}" in result.stderr


@pytest.mark.parametrize("command", ["eval", "export"])
def test_bad_questions_are_named_by_file_and_line(command: str, make_project: MakeProject) -> None:
    project = make_project(NOTE)
    project.succeed("build")
    questions = project.root / "questions.jsonl"
    questions.write_text('{"query": "pumps"\n')
    result = project.run(command)
    assert result.exit_code == 2
    assert f"{questions}, line 1: " in result.stderr
    questions.unlink()
    questions.mkdir()
    result = project.run(command)
    assert result.exit_code == 2
    assert f"{questions}: cannot be read: is a folder, not a file" in result.stderr


def test_commands_in_hints_are_quoted_for_a_shell(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text(NOTE["note.md"])
    project = tmp_path / "it's my project"
    said = CliRunner().invoke(main, ["query", str(project), "pumps"]).stderr
    *command, _ = shlex.split(said.partition("create one: ")[2])
    assert command == ["foundry", "init", str(project), "--source"]
    done = CliRunner().invoke(main, [*command[1:], str(tmp_path / "notes")])
    command = shlex.split(done.stdout.partition("next: ")[2])
    assert command == ["foundry", "build", str(project)]
    said = CliRunner().invoke(main, ["query", str(project), "pumps"]).stderr
    assert shlex.split(said.partition("build it: ")[2]) == command


def test_a_missing_query_is_reported(make_project: MakeProject) -> None:
    project = make_project(NOTE)
    result = project.run("query")
    assert result.exit_code == 2
    assert "is a project, but the query is missing: foundry query " in result.stderr


def test_init_without_a_source_shows_an_example(tmp_path: Path) -> None:
    documents = tmp_path / "my documents"
    documents.mkdir()
    for options in ([], ["--source", ""]):
        result = CliRunner().invoke(main, ["init", str(documents), *options])
        assert result.exit_code == 2
        assert "--source is missing" in result.stderr
    (documents / "a.md").write_text(NOTE["note.md"])
    said = CliRunner().invoke(main, ["init", str(documents)]).stderr
    command = shlex.split(said.partition("to index the files in ")[2].partition(": ")[2])
    assert command == ["foundry", "init", str(documents), "--source", str(documents)]
    assert not (documents / "foundry.toml").exists()
    assert CliRunner().invoke(main, command[1:]).exit_code == 0
    assert CliRunner().invoke(main, ["build", str(documents), "--quiet"]).exit_code == 0


def test_doctor_reports_a_missing_project(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["doctor", str(tmp_path)])
    assert f"none: {tmp_path} has no foundry.toml" in result.stdout


@pytest.mark.parametrize(
    ("total", "done", "seconds", "line"),
    [
        (4, 4, 2, "Reading: 4 of 4 documents, 2/s"),
        (3, 4, 2, "Reading: 4 of 4 documents, 2/s"),
        (4, 2, 10, "Reading: 2 of 4 documents, 10 s left"),
        (None, 20, 10, "Reading: 20 documents, 2/s"),
    ],
)
def test_lines_of_progress(
    total: int | None, done: int, seconds: int, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("foundry.progress.time.monotonic", lambda: now)
    stream = io.StringIO()
    with Lines("Reading", "documents", total, stream) as step:
        now += seconds
        step.advance(done)
    assert stream.getvalue() == line + "\n"


def test_slow_steps_are_named_and_repeated_after_twice_the_time() -> None:
    stream = io.StringIO()
    with Lines("Reading", "documents", 4, stream) as step:
        for seconds in (9.9, 10, 19.9, 20, 39.9, 40):
            step.wait_for("big.pdf", seconds)
        step.wait_for("scan.tif", 12)
        step.advance()
    assert stream.getvalue().splitlines() == [
        "Reading: 0 of 4 documents, 10 s so far on big.pdf",
        "Reading: 0 of 4 documents, 20 s so far on big.pdf",
        "Reading: 0 of 4 documents, 40 s so far on big.pdf",
        "Reading: 0 of 4 documents, 12 s so far on scan.tif",
    ]


def test_a_progress_bar_names_the_slow_document_until_it_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("foundry.progress.time.monotonic", lambda: now)
    stream = io.StringIO()
    with Bar("Reading", "documents", 4, stream) as step:
        for seconds in (9.9, 10, 11):
            step.wait_for("big.pdf", seconds)
        now += 1
        step.advance()
        shown = [line.strip(" -=") for line in stream.getvalue().split("\r")[1:]]
    assert shown == [
        "Reading: 0 of 4 documents",
        "Reading: 0 of 4 documents, 10 s so far on big.pdf",
        "Reading: 0 of 4 documents, 11 s so far on big.pdf",
        "Reading: 1 of 4 documents, 1/s, 3 s left",
    ]


def test_a_build_names_the_document_that_takes_long(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foundry.progress.SLOW_SECONDS", 0)
    monkeypatch.setattr(workers, "LOOK_SECONDS", 0.01)
    named, ask, say = threading.Event(), workers.ask_workers, Lines.wait_for

    def ask_slowly(
        sandbox: Sandbox, raws: list[RawDocument], begin: Callable[[RawDocument], None]
    ) -> list[bytes]:
        begin(raws[0])
        assert named.wait(60)
        return ask(sandbox, raws, begin)

    def wait_for(step: Lines, name: str, seconds: float) -> None:
        say(step, name, seconds)
        named.set()

    monkeypatch.setattr(workers, "ask_workers", ask_slowly)
    monkeypatch.setattr(Lines, "wait_for", wait_for)
    project = make_project(
        {"sources/deep/slow.md": "# Pumps\n" + "word " * 20_000, "a.md": "# Seals"}
    )
    result = project.succeed("build", "--jobs", "1")
    assert re.search(r"Reading: 1 of 2 documents, \d+ s so far on deep/slow.md\n", result.stderr)
    assert "2 documents, " in result.stdout


def test_full_disk_is_reported_once(tmp_path: Path) -> None:
    def fill(folder: Path) -> None:
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "table.npy")
        raise shutil.Error([(f"index/{n}.npy", str(folder / f"{n}.npy"), str(full)) for n in "abc"])

    with pytest.raises(ExportError) as caught:
        replace_folder(tmp_path / "export", fill)
    assert caught.value.message == (
        f"{tmp_path}/export: cannot be written: a.npy: [Errno 28] No space left on device;"
        " nothing was changed"
    )
    assert not list(tmp_path.iterdir())


def test_help_loads_neither_numpy_nor_pydantic() -> None:
    """These imports take longer than the rest of the command."""
    code = (
        "import sys\n"
        "from foundry.cli.main import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "assert not {'numpy', 'pydantic'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Build and try" in done.stdout
