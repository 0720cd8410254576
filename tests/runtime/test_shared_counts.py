"""The folder in which several workers count."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from foundry.runtime.web import loading


def test_folders_of_killed_servers_are_removed_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "MEMORY", str(tmp_path))
    # Set first, so that what is set below is undone at the end.
    monkeypatch.setenv(loading.COUNTS_VARIABLE, "")
    monkeypatch.delenv(loading.COUNTS_VARIABLE)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f"counts-{ended.pid}-a"
    others = [tmp_path / f"counts-{os.getpid()}-b", tmp_path / "counts-of-mine"]
    for folder in (left, *others):
        folder.mkdir()
        (folder / "counter_1.db").touch()

    with loading.shared_counts(2):
        counting = Path(os.environ[loading.COUNTS_VARIABLE])
        assert counting.parent == tmp_path
        assert not left.exists()
        assert all(folder.exists() for folder in others)
    assert not counting.exists()
