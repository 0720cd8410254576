"""How many processes serve, and how dead ones are replaced."""

import argparse
import os
import signal
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from workshop.web.workers import COUNTS_VARIABLE, add_workers, run_workers, share_counts


@pytest.mark.parametrize("count", ["0", "257", "many"])
def test_invalid_number_of_workers_is_refused(
    count: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    commands.add_parser("serve")
    add_workers(commands)
    assert parser.parse_args(["serve", "--workers", "256"]).workers == 256
    assert parser.parse_args(["serve"]).workers == 1
    with pytest.raises(SystemExit):
        parser.parse_args(["serve", "--workers", count])
    assert "argument --workers: " in capsys.readouterr().err


def test_workers_share_a_folder_for_their_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = SimpleNamespace(name=str(tmp_path), cleanup=lambda: None)
    monkeypatch.setattr("tempfile.TemporaryDirectory", lambda **_: folder)
    monkeypatch.setenv(COUNTS_VARIABLE, "/a/folder/of/the/owner")
    share_counts(2)
    assert os.environ[COUNTS_VARIABLE] == "/a/folder/of/the/owner"
    monkeypatch.delenv(COUNTS_VARIABLE)
    share_counts(1)
    assert COUNTS_VARIABLE not in os.environ
    share_counts(2)
    assert os.environ[COUNTS_VARIABLE] == str(tmp_path)


def test_dead_workers_are_replaced_until_shutdown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("workshop.web.workers.load", lambda **_: None)

    pauses: list[float] = []
    sleep = time.sleep

    def pause(seconds: float) -> None:
        sleep(0.05)
        pauses.append(seconds)

    monkeypatch.setattr("workshop.web.workers.time", SimpleNamespace(sleep=pause))

    def run() -> None:
        """Let one worker fail; the third one stops its parent."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        # Only one process can create this file.
        with suppress(FileExistsError), (tmp_path / "failed").open("x"):
            raise RuntimeError
        (tmp_path / str(os.getpid())).touch()
        while True:
            if len(list(tmp_path.iterdir())) > 2:
                os.kill(os.getppid(), signal.SIGTERM)
                signal.pause()
            sleep(0.02)

    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    handler = signal.getsignal(signal.SIGCHLD)
    stop_handler = signal.signal(signal.SIGTERM, lambda *_: None)
    # Signals may also arrive in this thread.
    ended = threading.Event()
    taking = threading.Thread(target=ended.wait)
    taking.start()
    try:
        with socket.socket() as listener:
            run_workers(2, run, listener)
    finally:
        ended.set()
        taking.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGCHLD, handler)
        signal.signal(signal.SIGTERM, stop_handler)
    assert len(list(tmp_path.iterdir())) == 3
    assert caplog.messages.count("a worker died") == 1
    # A worker that cannot start must not keep a core busy.
    assert pauses == [1.0]
