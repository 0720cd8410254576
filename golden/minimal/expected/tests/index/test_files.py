"""The files of an index: their content, and which damage is detected."""

import errno
import gc
import json
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workshop.errors import IndexUnusableError
from workshop.index.layout import (
    FORMAT_VERSION,
    Manifest,
    Vocabulary,
    manifest_bytes,
    open_array,
    open_bytes,
    resolve_version,
)
from workshop.index.lines import RecordLines, hash_key

MANIFEST = Manifest(
    documents=1,
    chunks=2,
    terms=3,
    postings=4,
    tokenizer_version=1,
    language="english",
    k1=1.5,
    b=0.75,
    field_weights={},
    dense=None,
    sources=["Caf\u00e9"],
    tags=[],
    filterable=[],
    config_sha256="0" * 64,
    known_items=[],
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    np.save(tmp_path / "numbers.npy", np.arange(6, dtype=np.uint32).reshape(2, 3))
    return tmp_path / "numbers.npy"


@pytest.mark.parametrize("shape", [(2, 3), (-1, 3), (2, -1), (-1, -1)])
def test_an_array_is_mapped_and_cannot_be_changed(file: Path, shape: tuple[int, ...]) -> None:
    array = open_array(file, np.uint32, shape)
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert type(array) is np.ndarray
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 1


@pytest.mark.parametrize("shape", [(0, 3), (-1, 3)])
def test_an_array_may_be_empty(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.save(tmp_path / "empty.npy", np.empty((0, 3), dtype=np.int8))
    assert open_array(tmp_path / "empty.npy", np.int8, shape).shape == (0, 3)


@pytest.mark.parametrize("shape", [(2, 4), (3, 3), (6,), (2, 3, 1), (0, 3), (-1, 4)])
def test_an_array_of_another_shape_is_refused(file: Path, shape: tuple[int, ...]) -> None:
    with pytest.raises(IndexUnusableError, match=r"holds uint32 \(2, 3\), expected uint32"):
        open_array(file, np.uint32, shape)


def test_an_array_of_another_type_or_none_is_refused(file: Path) -> None:
    with pytest.raises(IndexUnusableError, match="expected int32"):
        open_array(file, np.int32, (2, 3))
    np.save(file, np.array([{}], dtype=object), allow_pickle=True)
    for content in (file.read_bytes(), b"", b"no array", file.read_bytes()[:-3]):
        file.write_bytes(content)
        with pytest.raises(IndexUnusableError, match="unreadable") as caught:
            open_array(file, np.uint32, (2, 3))
        assert caught.value.hint == "rebuild the index, or restore the folder from a trusted copy"
    file.unlink()
    with pytest.raises(IndexUnusableError, match="No such file") as caught:
        open_array(file, np.uint32, (2, 3))
    assert caught.value.hint and "ulimit" not in caught.value.hint


def test_lack_of_memory_has_a_hint_of_its_own(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(np, "load", fail)
    with pytest.raises(IndexUnusableError) as caught:
        open_array(file, np.uint32, (2, 3))
    assert caught.value.hint and "ulimit -v" in caught.value.hint


def test_bytes_are_mapped_as_far_as_they_are_wanted(file: Path) -> None:
    file.write_bytes(b"0123456789")
    assert bytes(open_bytes(file, 4)) == b"0123"
    assert bytes(open_bytes(file, 0)) == b""
    with pytest.raises(IndexUnusableError, match="unreadable"):
        open_bytes(file, 11)


def test_terms_are_found_by_bisection(tmp_path: Path) -> None:
    terms = ["", "a", "ab", "b", "\u00e9"]
    encoded = [term.encode() for term in terms]
    (tmp_path / "terms.bin").write_bytes(b"".join(encoded))
    np.save(tmp_path / "ends.npy", np.cumsum([0, *map(len, encoded)]).astype(np.uint64))
    for count in (-1, 5):
        found = Vocabulary.open(tmp_path / "terms.bin", tmp_path / "ends.npy", count)
        assert [*found] == encoded
        assert [found.find(term) for term in terms] == [0, 1, 2, 3, 4]
        assert [found.find(term) for term in ("aa", "c", "\u00ea", "\ud800")] == [None] * 4
    with pytest.raises(IndexUnusableError, match="holds"):
        Vocabulary.open(tmp_path / "terms.bin", tmp_path / "ends.npy", 4)


def test_terms_far_apart_are_found_and_let_go(tmp_path: Path) -> None:
    terms = [f"{number:03}" for number in range(0, 400, 2)]
    (tmp_path / "terms.bin").write_bytes("".join(terms).encode())
    np.save(tmp_path / "ends.npy", np.arange(0, 3 * len(terms) + 1, 3, dtype=np.uint64))
    found = Vocabulary.open(tmp_path / "terms.bin", tmp_path / "ends.npy")
    assert [found.find(term) for term in terms] == [*range(len(terms))]
    assert {found.find(f"{number:03}") for number in range(-1, 401, 2)} == {None}
    # The cyclic garbage collector may run late, and an index takes disk and memory, so the index
    # must be freed without it.
    gc.disable()
    try:
        is_there = weakref.ref(found)
        del found
        assert is_there() is None
    finally:
        gc.enable()


def test_no_terms(tmp_path: Path) -> None:
    (tmp_path / "terms.bin").write_bytes(b"")
    np.save(tmp_path / "ends.npy", np.zeros(1, dtype=np.uint64))
    found = Vocabulary.open(tmp_path / "terms.bin", tmp_path / "ends.npy", 0)
    assert ([*found], found.find("a")) == ([], None)


@pytest.fixture
def records(tmp_path: Path) -> RecordLines:
    """Three records, the last two with the same id."""
    stored = [{"id": name, "n": n, "also_at": []} for n, name in enumerate(["a", "b", "b"])]
    lines = [json.dumps(record) + "\n" for record in stored]
    (tmp_path / "lines.jsonl").write_text("".join(lines))
    np.save(tmp_path / "ends.npy", np.cumsum([0, *map(len, lines)]).astype(np.uint64))
    pairs = sorted((hash_key(name), number) for number, name in enumerate(["a", "b", "b"]))
    np.save(tmp_path / "ids.npy", np.array(pairs, dtype=np.uint64).T)
    return open_records(tmp_path)


def fields(**given: Any) -> dict[str, Any]:
    return given


def open_records(folder: Path) -> RecordLines:
    return RecordLines(folder / "lines.jsonl", folder / "ends.npy", folder / "ids.npy", 3)


def test_records_are_found_by_number_and_by_id(records: RecordLines) -> None:
    assert records.read(1, fields) == {"id": "b", "n": 1, "also_at": []}
    more = {"id": "b", "n": 2, "also_at": [], "score": 0.5}
    assert records.read(2, fields, score=0.5) == more
    assert [*records.each(fields, [(2, {"score": 0.5})])] == [more]
    assert [records.numbers(name) for name in ("a", "b", "c")] == [[0], [1, 2], []]
    # The first 64 bits of the SHA-256 of `abc`.
    assert hash_key("abc") == 0xBA7816BF8F01CFEA


@pytest.mark.parametrize(
    "fail", [lambda **fields: fields["no"], lambda **fields: int(fields["id"])]
)
def test_a_record_that_cannot_be_used_is_named(
    records: RecordLines, fail: Callable[[Any], object]
) -> None:
    with pytest.raises(IndexUnusableError, match=r"lines\.jsonl: record 1: "):
        records.read(1, fail)


@pytest.mark.parametrize(
    ("place", "offset"), [(1, 0), (1, 5), (2, 1 << 62), (2, (1 << 64) - 1), (0, 7), (0, 1 << 63)]
)
def test_a_record_whose_place_is_damaged_is_named(
    tmp_path: Path, records: RecordLines, place: int, offset: int
) -> None:
    ends = np.load(tmp_path / "ends.npy")
    ends[place] = offset
    np.save(tmp_path / "ends.npy", ends)
    damaged = open_records(tmp_path)
    with pytest.raises(IndexUnusableError, match=r"lines\.jsonl: record \d: "):
        for number in range(3):
            assert damaged.read(number, dict[str, Any])["n"] == number


@pytest.mark.parametrize("last", [1, 1 << 20, 1 << 63])
def test_records_that_end_after_their_file_are_refused(
    tmp_path: Path, records: RecordLines, last: int
) -> None:
    ends = np.load(tmp_path / "ends.npy")
    ends[-1] += np.uint64(last)
    np.save(tmp_path / "ends.npy", ends)
    with pytest.raises(IndexUnusableError, match=r"lines\.jsonl: unreadable"):
        open_records(tmp_path)


def test_a_manifest_is_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(MANIFEST.to_bytes())
    assert "Caf\u00e9" in path.read_text("utf-8")
    read = Manifest.read(path)
    assert (read, read.version) == (MANIFEST, MANIFEST.version)
    assert len(read.version) == 16
    assert replace(MANIFEST, chunks=3).version != MANIFEST.version


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace(b'"chunks": 2', b'"chunks": 3'), "does not match its hash"),
        (lambda text: text + b" ", "does not match its hash"),
        (lambda text: text.replace(b'"format": ', b'"format": 9'), "format 9"),
        (lambda _: manifest_bytes({"format": FORMAT_VERSION, "dense": None}), "unreadable"),
        (lambda _: b"[" * 100_000, "unreadable"),
        (lambda _: b"{}", "unreadable: KeyError"),
        # The message must not quote the whole file, which the exception contains.
        (lambda text: text[:-9] + b"\xdd", r"unreadable: UnicodeDecodeError: .{,99}$"),
    ],
)
def test_a_manifest_that_was_changed_is_refused(
    tmp_path: Path, change: Callable[[bytes], bytes], message: str
) -> None:
    path = tmp_path / "manifest.json"
    with pytest.raises(IndexUnusableError, match="not an index"):
        Manifest.read(path)
    path.write_bytes(change(MANIFEST.to_bytes()))
    with pytest.raises(IndexUnusableError, match=message) as caught:
        Manifest.read(path)
    assert caught.value.hint and "rebuild the index" in caught.value.hint


def test_current_names_the_version_to_read(tmp_path: Path) -> None:
    assert resolve_version(tmp_path) == tmp_path
    (tmp_path / "CURRENT").write_text("v12\n")
    assert resolve_version(tmp_path) == tmp_path / "v12"
    for name in ("v", "12", "v1/../v2", "v1 v2", "\u00e9"):
        (tmp_path / "CURRENT").write_text(name, "utf-8")
        with pytest.raises(
            IndexUnusableError, match=r"CURRENT: (does not name a version|unreadable)"
        ):
            resolve_version(tmp_path)
