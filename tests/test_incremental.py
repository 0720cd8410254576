"""A rebuild produces the bytes of a fresh build, with no more work than the edits require."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from configurations import chunking
from conftest import CONFIG, MakeProject, Project
from document_files import Text, pdf, slow_rst
from faults import EVERY_FAULT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from processes import snapshot, start
from sharing import begin_foundry
from waiting import wait_until

from foundry.building.documents import workers as pool
from foundry.building.documents.cache import CACHE_NAME
from foundry.building.documents.recipe import Recipe
from foundry.documents import RawDocument
from foundry.readers.sandbox import processes
from foundry.readers.sandbox.processes import Limits
from foundry.state.stamps import lasting_stamp

pytestmark = pytest.mark.usefixtures("forked_readers", "stamps_last")

RECORDS = """
[[sources]]
type = "records"
name = "rows"
path = "rows.csv"
"""
FILES: dict[str, str | bytes] = {
    "a.md": "# Seals\n\nReplace the D40 seal yearly.\n\n## Grease\n\nUse little of it.\n",
    "b.txt": "Pumps are tested on Mondays.",
    "deep/c.html": "<title>Valves</title><h1>Valves</h1><p>Close them slowly.",
    "empty.txt": "",
    "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "d.json": '{"note": "written words"}',
    "rows.csv": "id,title,text\n1,One,First row\n2,Two,Second row\n",
}
FRESH = "fresh"
TABLES = "[search.correction]\n[search.suggestions]\n"
"""Stages for which an index has files besides those of the lanes."""


def write(project: Project, name: str, content: str | bytes) -> Path:
    """Write a file of a project; all files but `rows.csv` are in `sources/`."""
    folder = project.root if name == "rows.csv" else project.root / "sources"
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture
def project(make_project: MakeProject) -> Project:
    made = make_project({}, config=CONFIG + RECORDS)
    for name, content in FILES.items():
        write(made, name, content)
    return made


def changes(project: Project, *arguments: str) -> tuple[int, int, int]:
    """Return how many documents a build read, reused and removed."""
    found = project.build(*arguments)["changes"]
    return found["read"], found["reused"], found["removed"]


def fresh_index(project: Project) -> dict[str, str]:
    """Return a snapshot of the index that the project would build without any state."""
    other = project.without_state(project.root.with_name(FRESH))
    other.succeed("build", "--quiet")
    return snapshot(other.index)


def test_only_what_changed_is_read(project: Project) -> None:
    assert changes(project) == (7, 0, 0)
    assert changes(project) == (0, 7, 0)
    write(project, "b.txt", "Pumps are tested on Tuesdays.")
    result = project.build()
    assert result["changes"]["read"] == 1
    assert result["changes"]["reused"] == 6
    assert result["changes"]["embedded"] == 1
    (project.root / "sources" / "d.json").unlink()
    assert changes(project) == (0, 6, 1)
    write(project, "new.md", "# New\n\nWords.")
    assert changes(project) == (1, 6, 0)
    write(project, "rows.csv", "id,title,text\n1,One,First row\n3,Three,Third row\n2,Two,Changed\n")
    assert changes(project) == (2, 6, 0)
    assert snapshot(project.index) == fresh_index(project)


def test_every_kind_of_edit_is_noticed(project: Project) -> None:
    project.build()
    for name, content in {
        "zz.txt": "More words.",
        "zz.png": b"\x89PNG\r\n\x1a\n",
        "rows.csv": "id,title,text\n1,One,First row\n2,Two,Second line\n",
    }.items():
        write(project, name, content)
        assert not project.build()["unchanged"], name
        assert project.build()["unchanged"]
    assert snapshot(project.index) == fresh_index(project)


def test_files_with_equal_displayed_names_are_separate_documents(project: Project) -> None:
    for end in (b"\xe8", b"\xe9"):
        path = os.fsencode(project.root / "sources") + b"/caf" + end + b".md"
        Path(os.fsdecode(path)).write_bytes(b"# Coffee\n\nOf kind " + end.hex().encode())
    found = project.build()
    assert found["changes"]["read"] == 9
    told = project.succeed("inspect", "--json", "--path", "caf*").stdout
    assert len(json.loads(told)) == 2


def test_changed_options_invalidate_what_depends_on_them(project: Project) -> None:
    project.build()
    file = project.root / "foundry.toml"
    written = file.read_text()
    file.write_text(written + "[chunking]\nmax_chars = 100\n")
    assert changes(project) == (7, 0, 0)
    file.write_text(written.replace('path = "sources"', 'path = "sources"\ntags = ["x"]'))
    assert changes(project) == (7, 0, 0)
    assert snapshot(project.index) == fresh_index(project)
    file.write_text(written.replace('name = "notes"', 'name = "other"'))
    assert snapshot(project.index) != {}
    project.build()
    assert snapshot(project.index) == fresh_index(project)


HEADED = {
    "a.md": "# Pump seals\n\nA seal leaks.\n\n## Grease\n\nUse little grease.\n",
    "b.md": "# Valves\n\n## Pump seals\n\nValves and Seals.\n\n## New seals\n\nGrease.\n",
    "c.md": "# Grease\n\nGREASE is not Grease.\n\n## Seals\n\nUse the seals.\n",
}


@pytest.mark.parametrize("most_counted", [2_000_000, 8])
def test_words_and_headings_are_copied_from_the_previous_index(
    most_counted: int, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("forms", "words"):
        monkeypatch.setattr(f"foundry.indexing.queries.{module}.MAX_COUNTED", most_counted)
    config = CONFIG + "[embedding]\nprovider = 'none'\n" + TABLES
    project = make_project({}, config=config)
    for name, content in HEADED.items():
        write(project, name, content)
    project.build()
    edits = [
        {"b.md": "# Valves\n\nThey are closed slowly.\n"},
        {
            "a.md": "# Zeals\n\n## Old pump seals\n\nA zeal leaks twice.\n",
            "0.md": "# Grease\n\n## Pump seals\n\ngrease grease grease, \u00e9t\u00e9\n",
        },
        {"d.md": "# Old grease\n\nGrease is older.\n", "c.md": ""},
    ]
    for files in edits:
        for name, content in files.items():
            write(project, name, content)
        project.build()
        assert snapshot(project.index) == fresh_index(project), files
    handover = project.root / ".foundry" / "handover"
    assert (handover / "words.counts.npy").exists() is (most_counted > 8)


def test_only_fresh_builds_read_touched_files_again(project: Project) -> None:
    first = project.build()
    for path in (project.root / "sources").rglob("*"):
        os.utime(path, (1e9, 1e9))
    touched = project.build()
    assert (touched["unchanged"], touched["changes"]["read"]) == (True, 0)
    again = project.build("--fresh")
    assert (again["unchanged"], again["changes"]["read"]) == (True, 7)
    assert again["version"] == first["version"]


OPENED = """
import os, sys
from pathlib import Path
import foundry.state.stamps
foundry.state.stamps.TICK_NS = -1
from foundry.cli.main import main
root = os.path.realpath(sys.argv[1])
opened = []
def note(event, arguments):
    if event == "open" and not isinstance(arguments[0], int):
        name = os.fsdecode(arguments[0])
        # Files are opened relative to their folder's descriptor.
        if os.path.basename(name) in sys.argv[3:]:
            opened.append(os.path.basename(name))
sys.addaudithook(note)
try:
    main(["build", sys.argv[1], "--quiet"])
except SystemExit as exit:
    large = {"scipy", "httpcore2"} & sys.modules.keys()
    print("exit", exit.code, "opened", sorted(set(opened)), bool(large))
"""


def test_unchanged_files_are_not_opened(project: Project) -> None:
    names = [Path(name).name for name in FILES]

    def run() -> str:
        done = subprocess.run(
            [sys.executable, "-c", OPENED, project.root, "", *names],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()[-1]

    project.build()
    assert run() == "exit 0 opened [] False"
    write(project, "b.txt", "Changed.")
    assert run().startswith("exit 0 opened ['b.txt', 'rows.csv']")


def test_stamps_are_trusted_if_older_than_the_clock_tick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    path = tmp_path / "note"
    path.write_bytes(b"x")
    status = path.stat()
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    assert lasting_stamp(status, changed + 10_000_000) is None
    assert lasting_stamp(status, changed - 10_000_000_000) is None
    found = lasting_stamp(status, changed + 3_000_000_000)
    assert found is not None
    assert found.split()[::3] == ["1", str(status.st_ino)]


def test_a_change_with_equal_size_and_times_is_found(project: Project) -> None:
    path = write(project, "b.txt", "Pumps, one")
    status = path.stat()
    project.build()
    path.write_text("Pumps, two")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert changes(project)[0] == 1


def damage_nothing(path: Path) -> None:
    path.unlink()


def damage_start(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[:100] = bytes(100)
    path.write_bytes(content)


def damage_middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for place in range(4096, len(content), 97):
        content[place] ^= 0xFF
    path.write_bytes(content)


def damage_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 + 13])


def damage_result(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "UPDATE entries SET value = zeroblob(40) WHERE CAST(key AS TEXT) LIKE 'result%'"
        )


def damage_kind(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "UPDATE entries SET value = 'text' WHERE CAST(key AS TEXT) LIKE 'result%'"
        )


@pytest.mark.parametrize(
    "damage",
    [
        damage_nothing,
        damage_start,
        damage_middle,
        damage_half,
        damage_result,
        damage_kind,
    ],
)
def test_a_damaged_cache_is_discarded(
    damage: Callable[[Path], None], project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    project.build()
    damage(project.root / ".foundry" / CACHE_NAME)
    # Documents copied from the index are not read from the cache.
    shutil.rmtree(project.root / ".foundry" / "handover")
    write(project, "b.txt", "Changed.")
    result = project.build()
    if damage is not damage_nothing:
        assert "damaged" in caplog.text
        assert "documents are prepared again" in caplog.text
    assert result["changes"]["read"] == 7
    assert snapshot(project.index) == fresh_index(project)


def test_only_damaged_entries_are_prepared_again(project: Project) -> None:
    project.build()
    with closing(sqlite3.connect(project.root / ".foundry" / CACHE_NAME)) as cache, cache:
        cache.execute(
            "UPDATE entries SET value = substr(value, 2) WHERE CAST(key AS TEXT) LIKE 'entry%'"
        )
    write(project, "b.txt", "Changed.")
    assert project.build()["changes"]["read"] == 7
    write(project, "b.txt", "Changed again.")
    assert project.build()["changes"]["read"] == 1
    assert snapshot(project.index) == fresh_index(project)


def test_a_dead_worker_loses_one_document_until_the_next_build(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        write(project, f"p{number}.pdf", pdf([[Text(10, 600, f"page {number}")]]))
    with monkeypatch.context() as patch:
        # These workers never respond.
        waiting = [sys.executable, "-c", "import time; time.sleep(3600)"]
        patch.setattr(processes, "_command", lambda _: waiting)
        patch.setattr(pool, "LIMITS", Limits(wall=0.001))
        first = project.build()
    assert first["skipped"]["over a limit of its reader"] == 4
    assert first["documents"] == 6
    second = project.build()
    assert second["changes"]["read"] == 4
    assert second["documents"] == 10
    assert not second["unchanged"]


def many(project: Project) -> None:
    for number in range(60):
        text = f"# Note {number}\n\n" + " ".join(f"word{number + i}" for i in range(300))
        write(project, f"many/{number:04}.md", text)


def test_an_interrupted_build_is_continued(project: Project) -> None:
    many(project)
    # The cache is written every second, so it is written after this document. The last document
    # keeps the build running until it is interrupted.
    write(project, "many/short.rst", slow_rst(3_000))
    slow = write(project, "many/slow.rst", slow_rst(60_000))
    options = ("--jobs", "1", "--quiet")
    process = start("build", project.root, *options, begin=begin_foundry())
    cache = project.root / ".foundry" / CACHE_NAME
    prepared = 0

    def are_some_kept() -> bool:
        nonlocal prepared
        if cache.exists():
            opened = sqlite3.connect(f"file:{cache}?mode=ro", timeout=120, uri=True)
            with closing(opened) as connection:
                tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
                if tables:
                    query = "SELECT count(*) FROM entries WHERE CAST(key AS TEXT) LIKE 'result%'"
                    (prepared,) = connection.execute(query).fetchone()
        return prepared >= 20 or process.poll() is not None

    wait_until(are_some_kept)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    slow.write_text("Read at once.", encoding="utf-8")
    assert "what was read is kept" in said
    read, reused, _ = changes(project)
    # The interrupt may have come after a result was stored, and before its document was.
    assert reused >= prepared - 1
    assert read + reused == 69
    assert snapshot(project.index) == fresh_index(project)


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_workers_and_this_process_give_the_same_results(
    jobs: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = fresh_index(project)
    monkeypatch.setattr(pool, "FEW_DOCUMENTS", 0)
    monkeypatch.setattr(pool, "LITTLE_WORK", (0, 0))
    project.build("--jobs", jobs)
    assert snapshot(project.index) == expected


def test_documents_in_flight_are_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """However many documents there are, few of them are waiting at any time."""
    monkeypatch.setattr(pool, "FEW_DOCUMENTS", 0)
    monkeypatch.setattr(pool, "LITTLE_WORK", (0, 0))
    alive, most = 0, 0

    def tasks() -> Any:
        nonlocal alive, most
        for number in range(200):
            alive += 1
            most = max(most, alive)
            yield number, RawDocument("s", f"{number}.txt", f"{number}.txt", b"some words here")

    recipe = Recipe("english", chunking("headings", 1200, 0), {}, 0)
    with pool.Pool(recipe, 2) as workers:
        for _ in workers.prepare(tasks()):
            alive -= 1
    assert alive == 0
    assert most <= pool.BATCHES_AHEAD * 2 * pool.BATCH_DOCUMENTS + pool.BATCH_DOCUMENTS


NAMES = ["a.md", "b.txt", "x/c.md", "x/y.html", ".gitignore", "rows.csv"]
WORDS = st.sampled_from(
    ["seal", "pump", "Straße", "D40", "日本", "max_connections", "\ufeff", "=a"]
)
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)
CONTENTS = st.one_of(
    TEXTS,
    st.tuples(TEXTS, TEXTS).map(lambda parts: f"# {parts[0]}\n\n{parts[1]}\n\n## More\n\nwords\n"),
    st.sampled_from([b"\x00\x01", b"\xff\xfe", b"\xe9t\xe9 words"]),
)
ROWS = st.lists(st.tuples(st.integers(1, 4), TEXTS), max_size=4).map(
    lambda rows: "id,title,text\n" + "".join(f"{key},,{text}\n" for key, text in rows)
)
EDITS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES[:4]), CONTENTS),
    st.tuples(st.just("write"), st.just("rows.csv"), ROWS),
    st.tuples(st.just("write"), st.just(".gitignore"), st.sampled_from(["x/\n", "b.txt\n", ""])),
    st.tuples(st.just("remove"), st.sampled_from(NAMES[:4]), st.none()),
    st.tuples(st.just("rename"), st.sampled_from(NAMES[:4]), st.sampled_from(NAMES[:4])),
    st.tuples(st.just("touch"), st.sampled_from(NAMES[:4]), st.none()),
    st.tuples(
        st.just("configure"),
        st.just("foundry.toml"),
        st.sampled_from(
            ["", "[chunking]\nmax_chars = 100\n", '[embedding]\nprovider = "none"\n', "title"]
        ),
    ),
)


def apply(project: Project, edit: tuple[str, str, Any]) -> None:
    what, name, value = edit
    path = project.root / name if name == "rows.csv" else project.root / "sources" / name
    if what == "write":
        write(project, name, value)
    elif what == "configure":
        config = CONFIG + RECORDS
        config += 'title = "text"\n' if value == "title" else value
        (project.root / "foundry.toml").write_text(config + TABLES)
    elif path.exists():
        if what == "remove":
            path.unlink()
        elif what == "touch":
            os.utime(path)
        else:
            target = project.root / "sources" / value
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)


def check_edits(edits: list[list[tuple[str, str, Any]]]) -> None:
    """After each round of edits, compare the index with a fresh one; both builds may also fail."""
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder) / "project")
        (project.root / "sources").mkdir(parents=True)
        (project.root / "foundry.toml").write_text(CONFIG + RECORDS + TABLES)
        write(project, "rows.csv", "id,title,text\n1,One,First\n")
        for number, round_of_edits in enumerate([[], *edits]):
            for edit in round_of_edits:
                apply(project, edit)
            result = project.run("build", "--quiet", "--jobs", "1")
            other = project.without_state(project.root.with_name(FRESH))
            wanted = other.run("build", "--quiet", "--jobs", "1")
            assert (result.exit_code, number) == (wanted.exit_code, number), result.output
            assert not isinstance(result.exception, Exception), result.exception
            if result.exit_code == 0:
                assert snapshot(project.index) == snapshot(other.index)


@pytest.mark.slow
@settings(
    max_examples=100 if EVERY_FAULT else 3,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.lists(EDITS, max_size=4), min_size=1, max_size=5))
def test_any_edits_give_the_bytes_of_a_fresh_build(edits: list[list[tuple[str, str, Any]]]) -> None:
    check_edits(edits)


@pytest.mark.parametrize(("little", "workers"), [((8, 10_000), 1), ((7, 10_000), 2), ((8, 99), 2)])
def test_few_documents_are_read_by_one_worker(
    little: tuple[int, int], workers: int, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    class Counted(ThreadPoolExecutor):
        def __init__(self, threads: int, thread_name_prefix: str) -> None:
            started.append(threads)
            super().__init__(threads, thread_name_prefix)

    for number in range(8):
        write(project, f"m{number}.py", f"def function{number}():\n    return {number}\n")
    monkeypatch.setattr(pool, "ThreadPoolExecutor", Counted)
    monkeypatch.setattr(pool, "LITTLE_WORK", little)
    assert project.build("--jobs", "2")["documents"] == 14
    assert started == [workers]
