"""The key-value store: exact, checked, and losing entries only if a file is damaged."""

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from foundry.errors import BuildError
from foundry.state.key_value import CacheDamagedError, KeyValueFile


def open_file(path: Path, *, is_kept: bool = False, is_strict: bool = False) -> KeyValueFile:
    return KeyValueFile(
        path,
        what="the cache of answers",
        loss="answers are made anew",
        is_kept=is_kept,
        is_strict=is_strict,
    )


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def test_entries_are_found_by_key(tmp_path: Path) -> None:
    file = open_file(tmp_path / "cache")
    assert file.last_key(b"one ") is None
    file.put({b"one a": b"1", b"one b": b"", b"two": b"2"})
    assert (file.get(b"one a"), file.get(b"one b"), file.get(b"one c")) == (b"1", b"", None)
    file.put({b"one a": b"new"})
    assert file.get(b"one a") == b"new"
    assert file.keys(b"one ") == [b"one a", b"one b"]
    assert file.last_key(b"one ") == b"one b"
    file.delete([b"one a"])
    assert file.keys(b"one ") == [b"one b"]
    file.clear()
    assert file.get(b"two") is None
    file.close()


def test_uncommitted_entries_are_lost(tmp_path: Path) -> None:
    file = open_file(tmp_path / "cache")
    file.put({b"a": b"1"})
    file.commit()
    file.put({b"a": b"2", b"b": b"3"})
    file.close()
    file = open_file(tmp_path / "cache")
    assert (file.get(b"a"), file.get(b"b")) == (b"1", None)
    file.close()


@pytest.mark.parametrize(
    "damage",
    [
        "value = substr(value, 2)",
        "value = 'text'",
        "value = CAST(x'66ff66' AS TEXT)",
        "checksum = substr(checksum, 2)",
        "key = CAST('b' AS BLOB)",
    ],
)
def test_damaged_entries_are_dropped(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "cache"
    file = open_file(path)
    file.put({b"a": b"content"})
    file.commit()
    file.close()
    change(path, f"UPDATE entries SET {damage}")
    file = open_file(path)
    assert (file.get(b"a"), file.get(b"b")) == (None, None)
    file.put({b"a": b"content"})
    assert file.get(b"a") == b"content"
    file.close()


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_file_of_another_version_is_replaced(
    is_kept: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "cache"
    change(path, "CREATE TABLE documents (id INTEGER PRIMARY KEY)")
    file = open_file(path, is_kept=is_kept)
    file.put({b"a": b"1"})
    assert file.get(b"a") == b"1"
    file.close()
    assert "written by another version of Foundry" in caplog.text
    assert "answers are made anew" in caplog.text
    assert (tmp_path / "cache.old").exists() == is_kept


def damaged(path: Path) -> None:
    """Write a file that can be opened, but whose entries cannot be read."""
    file = open_file(path)
    file.put({b"x%d" % n: b"x" * 500 for n in range(100)})
    file.commit()
    file.close()
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xa5" * (len(content) - 8192)
    path.write_bytes(content)


def test_damage_found_later_loses_earlier_entries(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "cache"
    damaged(path)
    file = open_file(path, is_kept=True)
    with caplog.at_level(logging.WARNING):
        assert file.keys(b"x") == []
    assert "damaged" in caplog.text
    assert path.with_name("cache.damaged").exists()
    file.put({b"a": b"1"})
    assert file.get(b"a") == b"1"
    file.close()


def test_damage_is_an_error_if_all_entries_are_needed(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    damaged(path)
    file = open_file(path, is_strict=True)
    with pytest.raises(CacheDamagedError):
        file.keys(b"x")
    assert file.keys(b"x") == []
    file.close()


def test_a_locked_file_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foundry.state.key_value.BUSY_SECONDS", 0.01)
    path = tmp_path / "cache"
    file = open_file(path)
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BuildError, match=r"the cache of answers cannot be used: .*locked"):
            file.put({b"a": b"1"})
    file.close()
