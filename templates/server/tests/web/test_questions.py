"""The question log: what is logged, where, and what happens if it cannot be written."""

import json
import logging
import math
import os
import resource
import shutil
import stat
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace
from typing import Any

import pytest

from foundry.runtime.errors import ConfigurationError
from foundry.runtime.web.questions import VARIABLE, QuestionLog

questions = sys.modules[QuestionLog.__module__]
NOBODY = 65_534


def search(match: str, *documents: str) -> Callable[..., Any]:
    hits = [SimpleNamespace(document_id=name) for name in documents]
    found = SimpleNamespace(match=match, mode="hybrid", hits=hits)
    return lambda _query, _top_k=10, **_options: found


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("ascii").splitlines() if line]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "questions.jsonl"


@pytest.fixture
def counts() -> Counter[str]:
    return Counter()


@pytest.fixture
def log(file: Path, counts: Counter[str]) -> QuestionLog:
    return QuestionLog(file, lambda result: counts.update([result]))


def test_a_question_without_a_strong_match_is_kept(
    log: QuestionLog, file: Path, counts: Counter[str]
) -> None:
    asked = log.keep(search("weak", "d2", "d1", "d2"))
    found = asked("where is\nthe \x1b[31mseal \u202e?", 3, facets=False)
    assert found.match == "weak"
    log.keep(search("strong", "d1"))("known")
    log.keep(search("none"))("x" * 600)
    log.finish()
    day = today()
    assert read(file) == [
        {
            "day": day,
            "query": "where is the [31mseal \u202e?",
            "match": "weak",
            "mode": "hybrid",
            "results": 3,
            "documents": ["d2", "d1"],
        },
        {
            "day": day,
            "query": "x" * 500,
            "match": "none",
            "mode": "hybrid",
            "results": 0,
            "documents": [],
        },
    ]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert counts == {"kept": 2}


def test_as_many_documents_are_named_as_somebody_looks_at(log: QuestionLog, file: Path) -> None:
    log.keep(search("weak", *(f"d{number}" for number in range(30))))("seal")
    log.finish()
    (line,) = read(file)
    assert (line["results"], line["documents"]) == (30, [f"d{number}" for number in range(10)])


def test_without_a_file_nothing_is_kept(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    log = QuestionLog.open()
    assert caplog.messages == ["questions are not logged: QUESTION_LOG is not set"]
    asked = search("none")
    assert log.keep(asked) is asked
    assert not log.add_thumb("seal", "d1", "up")
    log.finish()


def test_of_what_somebody_types_the_last_question_is_kept(log: QuestionLog, file: Path) -> None:
    weak, strong = log.keep(search("weak")), log.keep(search("strong"))
    for query in ("How", "How do", "other", "how do I?", "how do I??", "how do I?"):
        weak(query)
    weak("pump")
    strong("pumps")
    log.finish()
    assert [line["query"] for line in read(file)] == ["other", "how do I?"]
    # Questions logged earlier count as finished.
    weak("how do I? Now")
    strong("nothing like it")
    log.finish()
    assert [line["query"] for line in read(file)] == ["other", "how do I?", "how do I? Now"]


def test_a_question_waits_for_more_until_it_is_due_or_too_many_wait(
    log: QuestionLog, file: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "MAX_HELD", 3)
    asked = log.keep(search("none"))
    for query in "abcde":
        asked(query)
    log._lines.join()
    assert [line["query"] for line in read(file)] == ["a", "b"]
    monkeypatch.setattr(questions, "TYPING_SECONDS", 0.0)
    log.finish()
    log.keep(search("none"))("f")
    log._lines.join()
    assert [line["query"] for line in read(file)] == [*"abcdef"]


def test_a_question_that_was_due_meanwhile_is_kept(
    log: QuestionLog, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.keep(search("none"))("a")
    log._lines.join()
    monkeypatch.setattr(questions.time, "monotonic", lambda: math.inf)
    log.add_thumb("seal", "d1", "up")
    log.finish()
    log.add_thumb("pump", "d1", "up")
    log._lines.join()
    assert [line["query"] for line in read(file)] == ["seal", "a", "pump"]


def test_a_thumb_is_kept_at_once(log: QuestionLog, file: Path) -> None:
    log.keep(search("weak"))("seal")
    log.add_thumb("seal\t", "d1", "down")
    log._lines.join()
    expected = {"day": today(), "query": "seal", "document": "d1", "thumb": "down"}
    assert read(file) == [expected]


@pytest.mark.parametrize("place", ["questions.jsonl", "package", "index", "export"])
def test_a_file_in_the_server_or_its_index_is_refused(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = Path(str(questions.__file__)).parents[1]
    index = tmp_path / "index"
    index.mkdir()
    (tmp_path / "link").symlink_to(index)
    monkeypatch.setenv("INDEX_DIR", str(index))
    named = {
        "package": str(package / "x" / ".." / "questions.jsonl"),
        "index": str(tmp_path / "link" / "questions.jsonl"),
        "export": str(tmp_path / "export" / "questions.jsonl"),
    }
    if place == "export":
        other = tmp_path / "export" / "notes" / "web"
        other.mkdir(parents=True)
        (tmp_path / "export" / "SHA256SUMS").touch()
        monkeypatch.setattr(questions, "__file__", str(other / "questions.py"))
    monkeypatch.setenv(VARIABLE, named.get(place, place))
    with pytest.raises(
        ConfigurationError, match=f"^{VARIABLE}: .* is not an absolute path outside"
    ):
        QuestionLog.open()


def test_any_other_place_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INDEX_DIR", raising=False)
    monkeypatch.setattr(questions, "__file__", str(tmp_path / "notes" / "web" / "questions.py"))
    monkeypatch.setenv(VARIABLE, str(tmp_path / "q"))
    assert QuestionLog.open().file == tmp_path / "q"


def test_a_full_file_is_put_aside_in_place_of_the_one_before(
    log: QuestionLog, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "MAX_FILE_BYTES", 170)
    for number in range(9):
        log.add_thumb(f"question {number}", "d1", "up")
    log.finish()
    before, now = read(Path(f"{file}.1")), read(file)
    # Two lines of about 80 bytes fit; the third exceeds the limit.
    assert [line["query"] for line in [*before, *now]] == [f"question {n}" for n in range(3, 9)]
    assert [line["query"] for line in now] == [f"question {n}" for n in range(6, 9)]
    assert {each.name for each in file.parent.iterdir()} == {"questions.jsonl", "questions.jsonl.1"}


def test_what_the_owner_removes_or_another_process_puts_aside_is_begun_anew(
    log: QuestionLog, file: Path
) -> None:
    log.add_thumb("one", "d1", "up")
    log.finish()
    file.rename(f"{file}.1")
    log.add_thumb("two", "d1", "up")
    log.finish()
    file.unlink()
    log.add_thumb("three", "d1", "up")
    log.finish()
    assert [line["query"] for line in read(file)] == ["three"]
    assert [line["query"] for line in read(Path(f"{file}.1"))] == ["one"]


def test_each_worker_appends_whole_lines(log: QuestionLog, file: Path) -> None:
    log.add_thumb("parent", "d1", "up")
    log.finish()
    workers = []
    for worker in range(3):
        if (pid := os.fork()) == 0:
            for number in range(200):
                log.add_thumb(f"{worker} {number} " + "x" * 300, "d1", "up")
                if number % 50 == 0:
                    log.finish()
            log.finish()
            os._exit(0)
        workers.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in workers] == [0, 0, 0]
    lines = read(file)
    assert len(lines) == 601
    for worker in range(3):
        own = [line["query"].split()[1] for line in lines if line["query"].startswith(f"{worker} ")]
        assert own == [str(number) for number in range(200)]


def test_a_failure_is_said_once_until_it_ends(
    tmp_path: Path, counts: Counter[str], caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "absent" / "questions.jsonl"
    log = QuestionLog(file, lambda result: counts.update([result]))
    asked = log.keep(search("none"))
    for query in "abc":
        assert asked(query).match == "none"
    log.finish()
    said = f"questions are lost: {file}: No such file or directory"
    assert (caplog.messages, counts) == ([said], {"lost": 3})
    assert caplog.records[0].levelno == logging.ERROR
    file.parent.mkdir()
    asked("seal")
    log.finish()
    assert (len(read(file)), counts["kept"], len(caplog.messages)) == (1, 1, 1)
    shutil.rmtree(file.parent)
    asked("seal")
    log.finish()
    assert caplog.messages == [said, said]


def test_what_a_full_disk_has_cut_ends_there(
    log: QuestionLog, file: Path, counts: Counter[str]
) -> None:
    log.add_thumb("whole", "d1", "up")
    log.finish()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 10, hard))
    try:
        assert not log.add_thumb("cut", "d1", "up")
        assert not log.add_thumb("lost", "d1", "up")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert log.add_thumb("after", "d1", "up")
    whole, cut, after = file.read_text().splitlines()
    assert (json.loads(whole)["query"], json.loads(after)["query"]) == ("whole", "after")
    assert len(cut) == 10
    assert counts == {"kept": 2, "lost": 2}


@pytest.mark.parametrize("kind", ["link", "pipe", "read pipe", "folder"])
def test_only_a_regular_file_is_written_to(
    kind: str, log: QuestionLog, file: Path, counts: Counter[str], request: pytest.FixtureRequest
) -> None:
    other = file.with_name("other")
    other.touch(0o644)
    if kind == "link":
        file.symlink_to(other)
    elif kind.endswith("pipe"):
        os.mkfifo(file)
        if kind == "read pipe":
            reader = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
            request.addfinalizer(lambda: os.close(reader))
    else:
        file.mkdir()
    assert not log.add_thumb("seal", "d1", "up")
    assert (counts, other.read_bytes()) == ({"lost": 1}, b"")


def test_a_thumb_is_lost_with_its_folder_and_kept_in_the_next(log: QuestionLog, file: Path) -> None:
    assert log.add_thumb("seal", "d1", "up")
    shutil.rmtree(file.parent)
    assert not log.add_thumb("seal", "d1", "up")
    file.parent.mkdir()
    assert log.add_thumb("pump", "d1", "up")
    assert [line["query"] for line in read(file)] == ["pump"]


def test_a_thumb_is_lost_with_the_right_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    # Another user needs access to all folders above this one.
    folder = Path(mkdtemp())
    try:
        if (pid := os.fork()) == 0:
            try:
                if os.geteuid() == 0:
                    # Root may write anywhere.
                    os.chown(folder, NOBODY, NOBODY)
                    os.setresuid(NOBODY, NOBODY, NOBODY)
                _lose_the_right(folder / "questions.jsonl", monkeypatch)
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    finally:
        shutil.rmtree(folder)


def _lose_the_right(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INDEX_DIR", raising=False)
    monkeypatch.setenv(VARIABLE, str(file))
    # The server may be below a folder to which this user has no access.
    (closed := file.parent / "closed").mkdir(mode=0)
    monkeypatch.setattr(questions, "__file__", str(closed / "notes" / "web" / "questions.py"))
    log = QuestionLog.open()
    closed.rmdir()
    assert log.add_thumb("seal", "d1", "up")
    file.parent.chmod(0o400)
    assert not log.add_thumb("seal", "d1", "up")
    file.parent.chmod(0o500)
    # The file is writable, but cannot be rotated.
    with pytest.raises(ConfigurationError, match="no permission to write in"):
        QuestionLog.open()
    file.parent.chmod(0o700)
    assert log.add_thumb("pump", "d1", "up")
    assert [line["query"] for line in read(file)] == ["seal", "pump"]


@pytest.mark.parametrize("kind", ["absent/x.jsonl", "folder", "link", "pipe", "file/x.jsonl"])
def test_a_place_that_cannot_be_written_is_refused_at_the_start(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("INDEX_DIR", raising=False)
    monkeypatch.setattr(questions, "__file__", str(tmp_path / "notes" / "web" / "questions.py"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "link")
    os.mkfifo(tmp_path / "pipe")
    place = tmp_path / kind
    monkeypatch.setenv(VARIABLE, str(place))
    with pytest.raises(ConfigurationError) as caught:
        QuestionLog.open()
    assert caught.value.message.startswith(f"{VARIABLE}: {place} cannot be written: ")
    assert (
        caught.value.hint
        == "create its folder, and make it writable for the user that runs the server"
    )


def test_a_file_that_others_may_read_is_closed_to_them(log: QuestionLog, file: Path) -> None:
    file.touch(0o644)
    log.add_thumb("seal", "d1", "up")
    log.finish()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_more_lines_than_can_wait_are_lost(
    file: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "MAX_WAITING", 5)
    os.mkfifo(file)
    # Nobody reads the pipe, so the thread waits, but no caller does.
    reader = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
    filler = os.open(file, os.O_WRONLY | os.O_NONBLOCK)
    for size in (4_096, 1):
        with suppress(BlockingIOError):
            while True:
                os.write(filler, b"x" * size)
    os.close(filler)
    monkeypatch.setattr(questions, "_open_private", lambda _file: os.open(file, os.O_WRONLY))
    monkeypatch.setattr(questions.fcntl, "flock", lambda *_: None)
    log = QuestionLog(file, lambda result: counts.update([result]))
    for _ in range(5_000):
        log._put(questions._Line(b"x" * 400))
    assert counts["lost"] > 4_000
    # A thumb does not wait for room in the queue either.
    assert not log.add_thumb("seal", "d1", "up")
    os.set_blocking(reader, True)
    while sum(counts.values()) < 5_001:
        os.read(reader, 1 << 16)
    os.close(reader)
