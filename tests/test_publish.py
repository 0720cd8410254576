"""If a build stops at any point, the previous index still works, and the next build completes."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import MakeProject, Project
from document_files import Text, pdf
from faults import EVERY_FAULT, FAULTS, each_fault, run_with_fault
from processes import leftovers, snapshot, start
from sharing import begin_foundry

from foundry.cli.main import main

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

NOTE = "# Seals\n\nReplace the D40 seal yearly. Edition {edition}.\n"


def edit(project: Project, edition: str) -> None:
    (project.root / "sources" / "note.md").write_text(
        NOTE.format(edition=edition), encoding="utf-8"
    )


def build(project: Project) -> Callable[[], tuple[int, str]]:
    """Return a function that runs a build, to be called in a forked child."""

    def action() -> tuple[int, str]:
        result = CliRunner().invoke(main, ["build", str(project.root), "--quiet"])
        code = 98 if result.exception and result.exc_info[0] is not SystemExit else result.exit_code
        return code, result.output

    return action


def versions(project: Project) -> list[str]:
    folder = project.root / ".foundry" / "index"
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


def edition(project: Project) -> str:
    """Return the edition in the current index, after checking every byte of it."""
    checked = project.run("verify", "--json")
    assert checked.exit_code == 0, checked.output
    record = json.loads((project.index / "chunks.jsonl").read_bytes())
    return str(record["text"]).rpartition("Edition ")[2].strip(".")


@pytest.fixture
def built(make_project: MakeProject) -> Project:
    project = make_project({})
    edit(project, "one")
    project.succeed("build", "--quiet")
    return project


def check_faults(project: Project, fault: str, *, step: int) -> int:
    """Fail builds at every `step`-th change, one build each; returns the number of faults."""
    state = project.root / ".foundry" / "index"
    current, faults = "one", 0
    edit(project, "2")
    for outcome in each_fault(fault, state, build(project), step=step):
        faults += 1
        wanted = (project.root / "sources" / "note.md").read_text().rpartition("Edition ")[2]
        found = edition(project)
        assert found in {current, wanted.strip(".\n")}, outcome
        if outcome.exit_code == 0:
            assert found == wanted.strip(".\n"), outcome
        elif outcome.exit_code is not None:
            assert outcome.exit_code == 1, outcome
            assert "cannot be written: " in outcome.output, outcome
            assert str(state) in outcome.output
        assert len(versions(project)) <= 3
        current = found
        edit(project, str(outcome.number + 2))
    assert leftovers(project.root) == []
    assert len(versions(project)) <= 2
    return faults


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_at_many_changes_leaves_an_index_that_answers(fault: str, built: Project) -> None:
    # Errors of a full disk occur in the same places as those of a broken one.
    step = 1 if EVERY_FAULT else 23 if fault == "SIGKILL" else 37
    assert check_faults(built, fault, step=step) >= 3
    assert built.ask("seal")["results"]


def test_a_writer_that_overwrites_is_detected(tmp_path: Path) -> None:
    """The negative control: if the test finds no fault here, it would find none anywhere."""
    file = tmp_path / "manifest.json"

    def overwrite() -> tuple[int, str]:
        with file.open("w") as stream:
            stream.write(json.dumps({"edition": "two" * 1000}))
        return 0, ""

    damaged = 0
    for fault in FAULTS:
        number = 1
        while True:
            file.write_text('{"edition": "one"}')
            outcome = run_with_fault(fault, number, tmp_path, overwrite)
            if not outcome.injected:
                break
            number += 1
            try:
                json.loads(file.read_text())
            except ValueError:
                damaged += 1
    assert damaged == 6


def test_publishing_syncs_files_before_folders(
    built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killing a process loses nothing in the page cache, so the order of calls is tested."""
    calls: list[tuple[str, str]] = []
    fsync, rename, replace = os.fsync, os.rename, os.replace

    def note_fsync(descriptor: int) -> None:
        calls.append(("fsync", str(Path(f"/proc/self/fd/{descriptor}").readlink())))
        fsync(descriptor)

    def note_rename(source: Path, target: Path) -> None:
        calls.append(("rename", str(target)))
        rename(source, target)

    def note_replace(source: Path, target: Path) -> None:
        calls.append(("rename", str(target)))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "rename", note_rename)
    monkeypatch.setattr(os, "replace", note_replace)
    edit(built, "two")
    built.succeed("build", "--quiet")

    index = built.root / ".foundry" / "index"
    published = calls.index(("rename", str(index / "v2")))
    switched = calls.index(("rename", str(index / "CURRENT")))
    files = [path for path in (index / "v2").rglob("*") if path.is_file()]
    synced = [place for what, place in calls[:published] if what == "fsync"]
    for path in files:
        temporary = str(index / "v2.tmp" / path.relative_to(index / "v2"))
        # Some files are synced early to reduce the work at the end.
        assert temporary in synced
        assert synced.index(temporary) < synced.index(str(index / "v2.tmp"))
    assert ("fsync", str(index)) in calls[published:switched]
    assert ("fsync", str(index / "CURRENT.tmp")) in calls[published:switched]
    assert calls[switched + 1] == ("fsync", str(index))


def test_version_that_never_became_current_is_removed(built: Project) -> None:
    index = built.root / ".foundry" / "index"
    edit(built, "two")
    built.succeed("build", "--quiet")
    shutil.copytree(index / "v2", index / "v3")
    shutil.copytree(index / "v2", index / "v4.tmp")
    (index / "CURRENT.tmp").write_text("v")
    edit(built, "three")
    built.succeed("build", "--quiet")
    assert versions(built) == ["v2", "v3"]
    assert edition(built) == "three"
    assert leftovers(built.root) == []


def test_at_most_two_versions_are_kept(built: Project) -> None:
    for number in range(5):
        edit(built, str(number))
        built.succeed("build", "--quiet")
    assert versions(built) == ["v5", "v6"]


@pytest.mark.parametrize(
    "damage", ["empty folder", "nothing to read", "only empty files", "only pictures"]
)
def test_failed_build_leaves_the_previous_index(damage: str, built: Project) -> None:
    note = built.root / "sources" / "note.md"
    note.unlink()
    if damage == "nothing to read":
        note.write_bytes(b"\x7fELF" + bytes(range(256)))
    elif damage == "only empty files":
        note.write_bytes(b"")
    elif damage == "only pictures":
        note.with_name("scan.png").write_bytes(b"\x89PNG\r\n\x1a\nIHDR\0")
    result = built.run("build")
    assert result.exit_code == 1
    assert f"no documents to index in {built.root / 'sources'}" in result.stderr
    hint = "to read scans: ocr = true" if damage == "only pictures" else "check path or url"
    assert f"hint: {hint}" in result.stderr
    assert versions(built) == ["v1"]
    assert edition(built) == "one"
    note.with_name("scan.png").unlink(missing_ok=True)
    edit(built, "one")
    assert "(unchanged)" in built.succeed("build", "--quiet").output


def test_folder_in_place_of_current_is_replaced(built: Project) -> None:
    current = built.root / ".foundry" / "index" / "CURRENT"
    current.unlink()
    (current / "inside").mkdir(parents=True)
    refused = built.run("verify")
    assert refused.exit_code == 1
    assert f"{current}: unreadable" in refused.stderr
    built.succeed("build")
    built.succeed("verify")


def test_empty_folder_without_an_index_publishes_nothing(make_project: MakeProject) -> None:
    project = make_project({})
    assert project.run("build").exit_code == 1
    assert versions(project) == []
    result = project.run("query", "seal")
    assert result.exit_code == 1
    assert "has no index yet" in result.stderr


def test_interrupted_build_reports_it(built: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    edit(built, "two")
    monkeypatch.setattr("foundry.building.run.collect_inputs", interrupt)
    result = built.run("build")
    assert result.exit_code == 130
    assert leftovers(built.root) == []
    assert edition(built) == "one"


HOLDER = """
import sys, time
from pathlib import Path
from foundry.config.project import load_config
from foundry.building.lock import hold_lock
with hold_lock(load_config(Path(sys.argv[1]))):
    print("held", flush=True)
    time.sleep(3600)
"""


def test_second_build_names_the_running_one_and_queries_still_work(built: Project) -> None:
    built.ask("seal")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, built.root], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        for command in ("build", "export"):
            result = built.run(command)
            assert result.exit_code == 1
            assert f"process {holder.pid} (since " in result.stderr
            assert "hint: wait until it has finished" in result.stderr
        assert built.ask("seal")["results"]
    finally:
        holder.kill()
        holder.wait(120)
        holder.stdout.close()
    edit(built, "two")
    built.succeed("build", "--quiet")
    assert edition(built) == "two"


KILLS = int(os.environ.get("KILLS", "8"))
"""How many builds are killed; KILLS=200 takes some minutes."""


def change_some(project: Project, generator: random.Random) -> None:
    """Add, change and remove some files of several kinds."""
    folder = project.root / "sources"
    for _ in range(generator.randint(1, 6)):
        name = f"mixed-{generator.randint(0, 30):02}" + generator.choice([".md", ".html", ".txt"])
        if generator.random() < 0.3:
            (folder / name).unlink(missing_ok=True)
        else:
            words = " ".join(generator.choices(["pump", "valve", "D40", "größe", "日本"], k=40))
            (folder / name).write_text(f"<h1>Part</h1>\n\n# Part\n\n{words}\n", encoding="utf-8")
    if generator.random() < 0.1:
        content = pdf([[Text(10, 600, f"sheet {generator.randint(0, 9)}")]])
        (folder / "sheet.pdf").write_bytes(content)


def build_and_kill(project: Project, seconds: float) -> bool:
    """Build in a forked child and kill it after this time; returns whether it was still running."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code, _ = build(project)()
        finally:
            os._exit(code)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in {0, -signal.SIGKILL}
    return code != 0


def note_edition(project: Project) -> str:
    """Return the edition of the note in the current index, after checking every byte of it."""
    checked = project.run("verify", "--json")
    assert checked.exit_code == 0, checked.output
    lines = (project.index / "chunks.jsonl").read_bytes().splitlines()
    (found,) = (text for line in lines if "Edition " in (text := json.loads(line)["text"]))
    return str(found).rpartition("Edition ")[2].strip(".")


def check_against_fresh(project: Project) -> None:
    project.succeed("build", "--quiet")
    fresh = Project(project.root.with_name("fresh"))
    shutil.rmtree(fresh.root, ignore_errors=True)
    shutil.copytree(project.root, fresh.root, ignore=shutil.ignore_patterns(".foundry"))
    fresh.succeed("build", "--quiet")
    assert snapshot(project.index) == snapshot(fresh.index)
    assert leftovers(project.root) == []


@pytest.mark.slow
def test_builds_killed_at_random_leave_an_index_that_answers(built: Project) -> None:
    """The index is the old or the new one; the next build completes, and equals a fresh one."""
    seed = random.randrange(2**32) if "KILLS" in os.environ else 1
    generator = random.Random(seed)
    current, span = "one", 0.4
    killed = number = 0
    while killed < KILLS:
        number += 1
        edit(built, str(number))
        change_some(built, generator)
        was_killed = build_and_kill(built, generator.uniform(0, span))
        killed += was_killed
        # Keeps the span near the duration of a build, so that kills come at any time and some
        # builds survive.
        span *= 1.02 if was_killed else 0.9
        found = note_edition(built)
        assert found in ({current, str(number)} if was_killed else {str(number)}), f"seed {seed}"
        current = found
        if number % 20 == 0:
            check_against_fresh(built)
            current = str(number)
        assert number < 4 * KILLS
    check_against_fresh(built)
    assert len(versions(built)) == 2
    answer = built.ask("D40 seal", "--top-k", "1")["results"][0]["text"]
    assert f"Edition {number}" in answer


@pytest.mark.slow
def test_one_of_several_builds_runs_and_the_others_exit_at_once(built: Project) -> None:
    edit(built, "contested")
    processes = [start("build", built.root, "--quiet", begin=begin_foundry()) for _ in range(4)]
    ended = [process.communicate(timeout=120) for process in processes]
    codes = [process.returncode for process in processes]
    assert 0 in codes
    assert set(codes) <= {0, 1}
    for code, (_, said) in zip(codes, ended, strict=True):
        if code:
            assert "is working on this project" in said
    assert "Edition contested" in built.ask("D40", "--top-k", "1")["results"][0]["text"]


@pytest.mark.slow
def test_queries_during_rebuilds_use_a_single_version(built: Project) -> None:
    note = built.root / "sources" / "other.md"
    note.write_text("# Other\n\nReplace the D41 seal. Edition one.\n", encoding="utf-8")
    built.succeed("build", "--quiet")
    built.ask("seal")
    loop = (
        "import itertools, os, subprocess, sys\n"
        "for number in itertools.count():\n"
        "    if number >= 5 and os.path.exists(sys.argv[1] + '/enough'):\n"
        "        break\n"
        "    for name in ('note', 'other'):\n"
        "        path = sys.argv[1] + f'/sources/{name}.md'\n"
        "        open(path + '.new', 'w').write(f'# Seals\\n\\nReplace the D4{len(name)} seal."
        " Edition {number}.\\n')\n"
        "        os.replace(path + '.new', path)\n"
        "    subprocess.run([*sys.argv[2:], 'build', sys.argv[1], '--quiet'],"
        " check=True, stdout=subprocess.DEVNULL)\n"
    )
    begin = begin_foundry()
    writer = subprocess.Popen([sys.executable, "-c", loop, built.root, *begin])
    answers = 0
    while writer.poll() is None:
        done = subprocess.run(
            [*begin, "query", built.root, "seal", "--json", "--mode", "keyword"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        texts = [hit["text"] for hit in json.loads(done.stdout)["results"]]
        assert len({text.rpartition("Edition ")[2] for text in texts}) == 1
        answers += 1
        if answers == 5:
            (built.root / "enough").touch()
    assert writer.returncode == 0
    assert answers >= 5
