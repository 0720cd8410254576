"""Worker processes: when they start and end, their limits, and the checks of their answers."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import MakeProject
from document_files import Text, pdf, slow_rst
from systems import needs_proc
from waiting import wait_until

from foundry.documents import Document, RawDocument, Skipped
from foundry.readers.sandbox import processes
from foundry.readers.sandbox.processes import Limits, Sandbox
from foundry.readers.sandbox.reading import read_apart

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

PDF = pdf([[Text(10, 600, "some words")]])


SLOW = slow_rst(60_000)


def read_raw(content: bytes, path: str, sandbox: Sandbox) -> Document | Skipped:
    return read_apart(RawDocument("s", path, path, content), sandbox)


@pytest.fixture
def count_workers(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return a function that counts the processes started since."""
    started = []
    start = subprocess.Popen.__init__

    def counting(self: Any, *arguments: Any, **options: Any) -> None:
        started.append(arguments)
        start(self, *arguments, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", counting)
    return lambda: len(started)


def test_plain_text_is_read_without_a_worker(
    make_project: MakeProject, count_workers: Callable[[], int]
) -> None:
    names = ["a.md", "a.txt", "a.html", "a.kt", "a.json", "a.yaml", "a.toml", "a.adoc", "a.tex"]
    make_project(dict.fromkeys(names, "some words")).succeed("build")
    assert count_workers() == 0


def test_number_of_workers_is_limited(
    make_project: MakeProject, count_workers: Callable[[], int]
) -> None:
    project = make_project({"a.md": "text", "a.pdf": PDF, "b.pdf": PDF, "c.pdf": PDF})
    project.succeed("build", "--jobs", "1")
    assert count_workers() == 1
    project.succeed("build", "--jobs", "2", "--fresh")
    assert 2 <= count_workers() <= 3
    hits = project.ask("some words")["results"]
    assert {hit["position"].get("page") for hit in hits if hit["path"].endswith(".pdf")} == {1}


def test_slow_worker_loses_only_its_file() -> None:
    with Sandbox(Limits(wall=0.02)) as sandbox:
        result = read_raw(SLOW, "a.rst", sandbox)
        assert isinstance(result, Skipped)
        assert (result.reason, result.detail) == ("over a limit of its reader", "time")


@pytest.mark.slow
def test_processor_time_is_limited_for_each_file() -> None:
    with Sandbox(Limits(cpu=1)) as sandbox:
        result = read_raw(SLOW, "a.rst", sandbox)
        assert isinstance(result, Skipped)
        assert (result.reason, result.detail) == ("over a limit of its reader", "processor time")
        assert isinstance(read_raw(PDF, "a.pdf", sandbox), Document)


@pytest.mark.slow
def test_memory_is_limited() -> None:
    deep = b"<a>" + b"<b>x</b>" * 3_000_000 + b"</a>"
    with Sandbox(Limits(memory=350_000_000)) as sandbox:
        result = read_raw(deep, "a.xml", sandbox)
        assert isinstance(result, Skipped)
        assert (result.reason, result.detail) == ("over a limit of its reader", "MemoryError")
        assert isinstance(read_raw(PDF, "a.pdf", sandbox), Document)


def test_workers_are_replaced_after_many_files(
    count_workers: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "FILES_PER_WORKER", 3)
    with Sandbox() as sandbox:
        for _ in range(4):
            assert isinstance(read_raw(PDF, "a.pdf", sandbox), Document)
    assert count_workers() == 2


def test_threads_can_share_a_sandbox() -> None:
    results: list[Document | Skipped] = []
    with Sandbox() as sandbox:
        threads = [
            threading.Thread(target=lambda: results.append(read_raw(PDF, "a.pdf", sandbox)))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [isinstance(result, Document) for result in results] == [True] * 2


@needs_proc
def test_workers_do_not_get_the_users_environment() -> None:
    with Sandbox() as sandbox:
        assert isinstance(read_raw(PDF, "a.pdf", sandbox), Document)
        (idle,) = sandbox._idle
        environment = Path(f"/proc/{idle._process.pid}/environ").read_bytes()
        assert b"PATH" not in environment
        assert b"HOME" not in environment


def ask(sandbox: Sandbox, *contents: bytes) -> list[bytes | str]:
    raws = [RawDocument("s", "a", "a", content) for content in contents]
    return [
        answer if isinstance(answer, bytes) else f"{answer.reason}: {answer.detail}"
        for answer in sandbox.ask_all(raws)
    ]


def test_answers_are_checked_outside_the_sandbox() -> None:
    with Sandbox(module="misbehaving") as sandbox:
        assert ask(sandbox, b"lie", b"word") == [b"lie is refused", b"word"]
        (worker,) = sandbox._idle
        (answered,) = ask(sandbox, b"pid")
        assert isinstance(answered, bytes)
        assert int(answered) != worker._process.pid


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (b"end", "reader crashed: exit code 7"),
        (b"wait", "over a limit of its reader: time"),
        (b"say nothing", "reader crashed: exit code -9"),
        (b"x" * 1_001, "over a limit of its reader: text"),
    ],
)
def test_failure_in_a_batch_loses_one_document(content: bytes, wrong: str) -> None:
    limits = Limits(wall=1 if content == b"wait" else 150, answer=1_000)
    with Sandbox(limits, "misbehaving") as sandbox:
        assert ask(sandbox, b"a", content, b"b", b"c") == [b"a", wrong, b"b", b"c"]


@needs_proc
def test_sandboxed_fork_ends_with_its_parent() -> None:
    with Sandbox(module="misbehaving") as sandbox:
        (answered,) = ask(sandbox, b"pid")
        assert isinstance(answered, bytes)
        assert Path(f"/proc/{int(answered)}").exists()
        sandbox._idle[0].kill()
        wait_until(lambda: has_ended(int(answered)))


def has_ended(process: int) -> bool:
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return True
    return state == "Z"


def test_worker_ends_with_its_parent() -> None:
    program = (
        "import os, sys\nfrom foundry.readers.sandbox.processes import Sandbox\n"
        "from foundry.documents import RawDocument\nsandbox = Sandbox()\n"
        "sandbox.ask(RawDocument('s', 'a', 'a', b'words'))\n"
        "print(sandbox._idle[0]._process.pid, flush=True)\nos._exit(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    wait_until(lambda: has_ended(int(done.stdout)))
