"""`foundry watch` rebuilds after a change, and its server keeps running."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import quote

import pytest
from conftest import CONFIG, MakeProject, Project
from processes import FOUNDRY, Running, running, snapshot
from sharing import begin_foundry
from systems import needs_glibc, with_watches, without_rights

# Signals are sent to servers that are started as users start them, so servers are not forked.
pytestmark = pytest.mark.usefixtures("formatted_once")

SECONDS = 60


@contextmanager
def watching(project: Project, *, begin: Sequence[str] = ()) -> Iterator[Running]:
    with running("watch", project.root, "--quiet", begin=begin or begin_foundry()) as process:
        yield Running(process)


def edit(project: Project, name: str, content: str) -> None:
    """Replace a file as an editor does, through a hidden file that no build reads."""
    path = project.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.swp")
    temporary.write_text(content, encoding="utf-8")
    temporary.replace(path)


@pytest.mark.slow
def test_changes_are_built(make_project: MakeProject) -> None:
    config = CONFIG + '\n[[sources]]\ntype = "records"\nname = "rows"\npath = "rows.csv"\n'
    project = make_project({"a.md": "# Seals\n\nReplace them."}, config=config)
    edit(project, "rows.csv", "id,text\n1,First row\n")
    with watching(project) as watch:
        watch.wait_for("2 documents, 2 chunks in .*: 2 read, 0 unchanged")
        edit(project, "sources/b.md", "# Pumps\n\nTest them.")
        watch.wait_for("3 documents, .*: 1 read, 2 unchanged, 0 removed")
        (project.root / "sources" / "a.md").unlink()
        watch.wait_for("2 documents, .*: 0 read, 2 unchanged, 1 removed")
        edit(project, "rows.csv", "id,text\n1,First row\n2,Second row\n")
        watch.wait_for("3 documents, .*: 1 read, 2 unchanged, 0 removed")

        before = snapshot(project.index)
        edit(project, "foundry.toml", config + "[chunking]\nmax_chars = 1\n")
        watch.wait_for("not built: .*foundry.toml: 1 problem")
        assert snapshot(project.index) == before
        shutil.move(project.root / "sources", project.root / "elsewhere")
        edit(project, "foundry.toml", config + "[chunking]\nmax_chars = 100\n")
        watch.wait_for("no such folder")
        shutil.move(project.root / "elsewhere", project.root / "sources")
        watch.wait_for("3 documents, .*: 3 read, 0 unchanged")
        edit(project, "sources/b.md", "# Pumps\n\nTest them twice.")
        watch.wait_for("3 documents, .*: 1 read, 2 unchanged")

        watch.process.send_signal(signal.SIGINT)
        watch.wait_for("stopped; the last published index is kept")
        assert watch.process.wait(SECONDS) == 0
    assert project.ask("twice")["results"]


def test_files_written_by_builds_are_not_changes(make_project: MakeProject) -> None:
    """A source that contains the project is not rebuilt because of its own index."""
    config = CONFIG.replace('"sources"', '"."') + 'exclude = ["drafts/"]\n'
    project = make_project({"a.md": "# Seals\n\nReplace them."}, config=config)
    with watching(project) as watch:
        watch.wait_for("1 document, ")
        edit(project, "drafts/x.md", "# Draft\n\nNot yet.")
        edit(project, "dist/notes/README.md", "# Export\n\nExported.")
        edit(project, "sources/b.md", "# Pumps\n\nTest them.")
        # None of the builds has made another index, even if it was triggered by a change.
        assert "1 read, 1 unchanged" in watch.wait_for("2 documents, .*chunks in").string
        edit(project, "sources/b.md", "# Pumps\n\nTest them twice.")
        assert "1 read, 1 unchanged" in watch.wait_for("documents, .*chunks in").string
        published = (project.root / ".foundry" / "index").glob("v*")
        versions = [path.name for path in published if path.is_dir()]
        assert sorted(versions) == ["v2", "v3"]


@pytest.mark.slow
def test_a_running_server_finds_new_text(make_project: MakeProject) -> None:
    project = make_project({"a.md": "# Seals\n\nReplace them."})
    project.succeed("build", "--quiet")
    exported = project.export()
    server = subprocess.Popen(
        [sys.executable, "-m", "notes", "serve", "--port", "0"],
        cwd=exported,
        env={"INDEX_DIR": str(project.root / ".foundry" / "index")},
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert server.stderr is not None
        address = ""
        for line in server.stderr:
            found = re.search(r"http://\S+?:\d+", line)
            if found:
                address = found[0]
                break
        with watching(project) as watch:
            watch.wait_for("nothing has changed")
            edit(project, "sources/new.md", "# Zyzzyva\n\nA weevil of the tropics.")
            watch.wait_for("2 documents")
            until = time.monotonic() + SECONDS
            titles: list[str] = []
            while "Zyzzyva" not in titles and time.monotonic() < until:
                url = f"{address}/search?q={quote('weevil')}"
                with urllib.request.urlopen(url, timeout=SECONDS) as reply:
                    titles = [hit["title"] for hit in json.load(reply)["results"]]
                time.sleep(0.05)
            assert "Zyzzyva" in titles
    finally:
        server.kill()
        server.wait(SECONDS)
        server.stderr.close()


def test_an_index_put_in_place_of_the_published_one_is_replaced(
    make_project: MakeProject,
) -> None:
    project = make_project({"a.md": "# Seals\n\nReplace them."})
    other = make_project({"evil.md": "# Evil\n\nDrink the coolant."}, name="other")
    other.succeed("build", "--quiet")
    index = project.root / ".foundry" / "index"
    with watching(project) as watch:
        watch.wait_for("1 document, 1 chunk in .*: 1 read")
        watch.wait_for("nothing has changed")
        shutil.copytree(other.index, index / "v7")
        (index / "CURRENT").write_text("v7\n")
        watch.wait_for("1 document, 1 chunk in .*: 0 read, 1 unchanged")
    assert [hit["path"] for hit in project.ask("coolant seal")["results"]] == ["a.md"]


def test_an_unreadable_folder_is_reported_and_left(make_project: MakeProject) -> None:
    """The folder is closed, opened, removed and replaced while it is watched."""
    project = make_project({"a.md": "# A\n\nOne.", "sources/private/b.md": "# B\n\nTwo."})
    private = project.root / "sources" / "private"
    (project.root / "sources" / "linked").symlink_to("private")
    private.chmod(0)
    try:
        with watching(project, begin=[*without_rights(), *FOUNDRY]) as watch:
            watch.wait_for("1 document, 1 chunk in .*: 1 read")
            watch.wait_for("not watched: sources: private: Permission denied")
            watch.wait_for("watching 1 folder$")
            edit(project, "sources/c.md", "# C\n\nThree.")
            watch.wait_for("2 documents, .*: 1 read, 1 unchanged")
            private.chmod(0o755)
            watch.wait_for("3 documents, .*: 1 read, 2 unchanged")
            edit(project, "sources/private/b.md", "# B\n\nTwice.")
            watch.wait_for("3 documents, .*: 1 read, 2 unchanged")
            private.chmod(0)
            watch.wait_for("not watched: sources: private: Permission denied")
            watch.wait_for("2 documents, .*: 0 read, 2 unchanged, 1 removed")
            private.chmod(0o755)
            watch.wait_for("3 documents")
            shutil.rmtree(private)
            private.write_text("A file now.")
            watch.wait_for("3 documents, .*: 1 read, 2 unchanged, 1 removed|2 documents, ")
            edit(project, "sources/d.md", "# D\n\nFour.")
            watch.wait_for(r"\d documents, .*: 1 read")
            assert watch.process.poll() is None
            assert sum("not watched" in line for line in watch.said) == 2
    finally:
        if private.is_dir():
            private.chmod(0o755)


def test_a_source_is_built_again_once_it_is_readable(make_project: MakeProject) -> None:
    config = CONFIG + '\n[[sources]]\ntype = "folder"\nname = "other"\npath = "other"\n'
    project = make_project({"a.md": "# A\n\nOne.", "other/b.md": "# B\n\nTwo."}, config=config)
    other = project.root / "other"
    other.chmod(0)
    try:
        with watching(project, begin=[*without_rights(), *FOUNDRY]) as watch:
            watch.wait_for("not built: source other: cannot read the folder .*Permission denied")
            other.chmod(0o755)
            watch.wait_for("2 documents, 2 chunks")
            edit(project, "other/b.md", "# B\n\nTwice.")
            watch.wait_for("2 documents, .*: 1 read, 1 unchanged")
    finally:
        other.chmod(0o755)


@pytest.mark.parametrize(
    ("limits", "said", "is_noticed"),
    # If the first attempt frees its resources late, the second attempt fails too.
    [
        (
            (4, 128),
            "not watched: [34] of 5 folders: OS file watch limit reached; exclude some",
            True,
        ),
        ((100, 0), "not watched: 5 of 5 folders: .*Too many open files", False),
    ],
)
def test_folders_that_the_system_cannot_watch_are_reported(
    limits: tuple[int, int], said: str, is_noticed: bool, make_project: MakeProject
) -> None:
    names = ["a.md", *(f"sources/folder{number}/b.md" for number in range(4))]
    project = make_project({name: f"# {name}\n\nText." for name in names})
    with watching(project, begin=[*with_watches(*limits), *FOUNDRY]) as watch:
        watch.wait_for("5 documents")
        watch.wait_for(said)
        watch.wait_for("hint: the next build picks up changes there")
        if is_noticed:
            edit(project, "sources/a.md", "# A\n\nOther.")
        else:
            edit(project, "foundry.toml", CONFIG + "[chunking]\nmax_chars = 100\n")
        watch.wait_for("5 documents, .*: . read")


FREED = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np

from foundry.building.watch import build_after_changes

small = []

def held():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("RssAnon"))

def allocate(_):
    small.append(np.ones(1 << 16, dtype=np.int8))
    large = [np.ones(1 << 20, dtype=np.int8) for _ in range(30)]
    together.wait()

THREADS = int(sys.argv[1])
together = Barrier(THREADS)

def build():
    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(allocate, range(THREADS)))

# Once a large array was freed, glibc takes others of up to this size from its heap.
np.ones(24 << 20, dtype=np.int8)
before = held()
next(build_after_changes(Path("."), build))
print(held() - before)
"""


@needs_glibc
@pytest.mark.parametrize("threads", ["1", "4"])
def test_memory_freed_after_a_build_is_returned_to_the_system(threads: str) -> None:
    kept = subprocess.check_output([sys.executable, "-c", FREED, threads], text=True)
    assert int(kept) < 10
