"""The thread that watches for a new index goes on, whatever it meets."""

from pathlib import Path
from typing import Any, cast

import pytest
from waiting import wait_until

from foundry.runtime.index.errors import IndexUnusableError
from foundry.runtime.index.reader import Index, Served
from foundry.runtime.index.reloading import NOT_RELOADED, follow


class VanishingIndex:
    """An index whose files are removed while they are compared with their hashes."""

    def verify(self) -> list[str]:
        raise FileNotFoundError("terms.bin")


def test_files_that_vanish_while_they_are_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INDEX_DIR", str(tmp_path))
    served = Served()
    served.open_index = lambda _: cast(Any, VanishingIndex())
    served.load()

    def refuse(_: Path) -> Index:
        raise IndexUnusableError("not an index", hint="build it")

    served.open_index = refuse
    outcomes: list[str] = []
    stop = follow(served, outcomes.append, poll_seconds=0.01)
    try:
        wait_until(lambda: bool(served.state.damage))
        assert served.state.verified is False
        assert served.state.damage == ("FileNotFoundError('terms.bin')",)
        with pytest.raises(IndexUnusableError, match=r"terms\.bin"):
            served.current()
        (tmp_path / "CURRENT").write_text("v1")
        (tmp_path / "v1").mkdir()
        (tmp_path / "v1" / "manifest.json").write_text("{}")
        wait_until(lambda: served.state.problem == NOT_RELOADED)
        assert "refused" in outcomes
    finally:
        stop.set()
