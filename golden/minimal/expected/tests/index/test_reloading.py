"""Which index is served after others are published, damaged or removed, and after errors."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from workshop.errors import IndexUnusableError
from workshop.index.reader import Served
from workshop.index.reloading import NOT_RELOADED, follow


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(10_000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("this has not come about in 100 s")


class Indexes:
    """Opens and verifies indexes, with errors that depend on the content of `terms.bin`."""

    def __init__(self) -> None:
        self.outcomes: list[str] = []

    def open(self, directory: Path) -> Any:
        name = (directory / "CURRENT").read_text()
        content = (directory / name / "terms.bin").read_text()
        if content == "broken":
            raise IndexUnusableError("not an index")

        def verify() -> list[str]:
            if content == "vanishing":
                raise FileNotFoundError("terms.bin")
            return ["terms.bin"] if content == "damaged" else []

        layout = SimpleNamespace(root=directory / name)
        return SimpleNamespace(verify=verify, version=name, layout=layout)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workshop.index.reloading.POLL_SECONDS", 0.01)


@pytest.fixture
def indexes() -> Indexes:
    return Indexes()


@pytest.fixture
def served(tmp_path: Path, indexes: Indexes) -> Iterator[Served]:
    """The index served from a folder to which new ones are published."""
    publish(tmp_path, "v1", "whole")
    served = Served(indexes.open)
    served.load(tmp_path, verify=False)
    stop = follow(served, indexes.outcomes.append)
    yield served
    stop.set()


def publish(folder: Path, name: str, content: str) -> None:
    (folder / name).mkdir()
    (folder / name / "terms.bin").write_text(content)
    (folder / "next").write_text(name)
    (folder / "next").replace(folder / "CURRENT")


def test_each_index_that_is_whole_is_served(
    tmp_path: Path, served: Served, indexes: Indexes
) -> None:
    wait_until(lambda: served.state.verified)
    assert (served.current().version, served.state.problem) == ("v1", None)
    for outcomes, content in enumerate(("damaged", "broken", "vanishing"), start=1):
        publish(tmp_path, f"v{outcomes + 1}", content)
        wait_until(lambda wanted=outcomes: len(indexes.outcomes) == wanted)  # type: ignore[misc]
        assert (served.current().version, served.state.problem) == ("v1", NOT_RELOADED)
        assert served.state.verified
    (tmp_path / "v4" / "terms.bin").write_text("mended")
    wait_until(lambda: served.current().version == "v4")
    assert (served.state.problem, served.state.verified) == (None, True)
    # While the served index is undamaged, only another version counts.
    (tmp_path / "v4" / "terms.bin").write_text("other")
    publish(tmp_path, "v5", "whole")
    wait_until(lambda: served.current().version == "v5")
    assert indexes.outcomes == ["refused"] * 3 + ["ok"] * 2


def test_an_index_that_is_published_while_another_is_opened_is_served(
    tmp_path: Path, indexes: Indexes
) -> None:
    publish(tmp_path, "v1", "whole")
    served = Served(indexes.open)
    served.load(tmp_path, verify=False)
    publish(tmp_path, "v2", "whole")
    stop = follow(served, indexes.outcomes.append)
    try:
        wait_until(lambda: served.current().version == "v2")
    finally:
        stop.set()
    assert indexes.outcomes == ["ok"]


@pytest.mark.parametrize("content", ["damaged", "vanishing"])
def test_an_index_that_proves_damaged_answers_nothing_until_it_is_mended(
    tmp_path: Path, indexes: Indexes, content: str
) -> None:
    publish(tmp_path, "v1", content)
    served = Served(indexes.open)
    served.load(tmp_path, verify=False)
    stop = follow(served, indexes.outcomes.append)
    try:
        wait_until(lambda: bool(served.state.damage))
        assert not served.state.verified
        with pytest.raises(IndexUnusableError, match=r"terms\.bin") as caught:
            served.current()
        assert str(tmp_path) not in caught.value.reason
        (tmp_path / "v1" / "terms.bin").write_text("mended")
        wait_until(lambda: served.state.verified)
        assert served.current().version == "v1"
    finally:
        stop.set()


def test_an_old_index_that_is_removed_while_it_is_verified_is_not_damaged(
    tmp_path: Path, indexes: Indexes
) -> None:
    publish(tmp_path, "v1", "vanishing")
    served = Served(indexes.open)
    served.load(tmp_path, verify=False)
    publish(tmp_path, "v2", "whole")
    served.verify()
    assert not served.state.verified
    assert served.current().version == "v1"


def test_what_is_served_is_opened_when_it_is_first_wanted(
    tmp_path: Path, indexes: Indexes, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(tmp_path, "v7", "whole")
    monkeypatch.setenv("INDEX_DIR", str(tmp_path))
    served = Served(indexes.open)
    served.verify()
    assert not served.state.verified
    assert served.current().version == "v7"
    wait_until(lambda: served.state.verified)
    seen: Any = SimpleNamespace(version="seen")
    nothing: Any = SimpleNamespace(version="nothing")
    prepared: list[Any] = []
    served.viewer = SimpleNamespace(
        prepare=prepared.append, view=lambda _: seen, public=lambda _: nothing
    )
    assert (served.current(), served.public()) == (seen, nothing)
    assert served.whole().version == "v7"
    served.load(tmp_path, verify=False)
    assert prepared == [served.whole()]
