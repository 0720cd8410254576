"""Unchanged lines of a table are not parsed again, and the index equals that of a fresh build."""

import json
import shutil
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pytest
from conftest import MakeProject, Project
from hypothesis import given
from hypothesis import strategies as st
from processes import snapshot

from foundry.building.documents.cache import CACHE_NAME, DocumentCache
from foundry.building.documents.inputs import _Collector
from foundry.building.documents.lines import HASH_BYTES, KnownLines, LinesBuilder, NotedRow
from foundry.sources import records

CONFIG = """
[project]
name = "notes"

[[sources]]
type = "records"
path = "rows.jsonl"
"""
AUTHORS = 'metadata = ["author"]\n'
ROWS = [{"id": f"r{number}", "text": f"Seal {number} is blue."} for number in range(6)]
pytestmark = pytest.mark.usefixtures("stamps_last")


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that have been parsed."""
    texts: list[str] = []
    parse = records.parse_line

    def note(line: Any) -> Any:
        texts.append(line.text)
        return parse(line)

    monkeypatch.setattr(records, "parse_line", note)
    return texts


@pytest.fixture
def project(make_project: MakeProject) -> Project:
    return make_project({}, config=CONFIG)


def write(project: Project, rows: Iterable[Mapping[str, object] | str], start: str = "") -> None:
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path = project.root / "rows.jsonl"
    path.write_text(start + "".join(f"{line}\n" for line in lines), encoding="utf-8")


def check_equal_to_fresh(project: Project) -> None:
    """Compare with the index and the output of a build without any state."""
    other = project.without_state(project.root.with_name("fresh"))
    found, fresh = (each.run("build", "--quiet") for each in (project, other))
    assert found.exit_code == fresh.exit_code
    if fresh.exit_code:
        assert found.output == fresh.output.replace(str(other.root), str(project.root))
    else:
        assert snapshot(project.index) == snapshot(other.index)


CHANGED = {"id": "r2", "text": "Seal 2 is red."}
EDITS: dict[str, list[Mapping[str, object] | str]] = {
    "changed": [*ROWS[:2], CHANGED, *ROWS[3:]],
    "inserted": [*ROWS[:3], {"id": "new", "text": "Grease."}, *ROWS[3:]],
    "removed": [*ROWS[:1], *ROWS[2:]],
    "moved": [*ROWS[3:], *ROWS[:3]],
    "repeated": [*ROWS, ROWS[1], ROWS[4]],
    "malformed": [*ROWS[:3], "{", *ROWS[3:], '"text"', {"id": "", "text": "x"}],
    "another text first": [CHANGED, *ROWS],
    "with a column more": [*ROWS, {"id": "n", "text": "Oil.", "author": "Ann"}],
    "none left": [CHANGED],
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_table_is_built_like_a_fresh_one(
    name: str, project: Project, parsed: list[str]
) -> None:
    write(project, ROWS)
    project.build()
    parsed.clear()
    write(project, EDITS[name])
    project.build()
    known = [json.dumps(row) for row in ROWS]
    assert not {text.rstrip("\n") for text in parsed} & {*known} - {known[1], known[2], known[4]}
    check_equal_to_fresh(project)


def test_only_changed_lines_are_parsed(project: Project, parsed: list[str]) -> None:
    write(project, ROWS)
    project.build()
    for row in (CHANGED, ROWS[2]):
        parsed.clear()
        write(project, [*ROWS[:2], row, *ROWS[3:]])
        found = project.build()
        assert parsed == [json.dumps(row) + "\n"]
        assert (found["changes"]["read"], found["changes"]["reused"]) == (1, 5)


def test_other_options_parse_every_line(project: Project, parsed: list[str]) -> None:
    write(project, ROWS)
    project.build()
    parsed.clear()
    (project.root / "foundry.toml").write_text(f'{CONFIG}base_url = "https://x.org"\n')
    project.build()
    assert len(parsed) == len(ROWS)
    check_equal_to_fresh(project)


def test_a_removed_column_is_an_error(project: Project) -> None:
    (project.root / "foundry.toml").write_text(CONFIG + AUTHORS)
    write(project, [*ROWS, {"id": "n", "text": "Oil.", "author": "Ann"}])
    project.build()
    write(project, ROWS)
    assert "no such column: metadata 'author'" in project.run("build").output
    check_equal_to_fresh(project)


def test_a_byte_order_mark_is_not_part_of_a_line(project: Project) -> None:
    write(project, ROWS, start="\ufeff")
    project.build()
    write(project, [{"id": "new", "text": "Grease."}, "\ufeff" + json.dumps(ROWS[0]), *ROWS[1:]])
    project.build()
    check_equal_to_fresh(project)


def test_entries_that_an_interrupted_build_replaced_are_not_read(
    project: Project, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write(project, ROWS)
    project.build()
    with monkeypatch.context() as patch:
        patch.setattr(_Collector, "finish", _stop)
        write(project, [*ROWS[:5], {"id": "r5", "text": "Seal 5 is red."}])
        assert project.run("build").exit_code != 0
    # Documents copied from the index are not read from the cache.
    shutil.rmtree(project.root / ".foundry" / "handover")
    write(project, [*ROWS[:2], CHANGED, *ROWS[3:]])
    project.build()
    assert "damaged" not in caplog.text
    check_equal_to_fresh(project)


def _stop(*_: object) -> None:
    """Stop after everything is prepared and before it is reported."""
    raise KeyboardInterrupt


def test_known_lines_of_a_removed_source_are_dropped(project: Project) -> None:
    write(project, ROWS)
    project.build()
    (project.root / "other.jsonl").write_text('{"id": "o", "text": "Other."}\n')
    config = project.root / "foundry.toml"
    config.write_text(CONFIG.replace('"rows.jsonl"', '"other.jsonl"\nname = "other"'))
    project.build()
    cache = DocumentCache(project.root / ".foundry" / CACHE_NAME)
    assert [*cache.take_lines()] == ["other"]
    cache.close()
    config.write_text(CONFIG)
    check_equal_to_fresh(project)


def noted(rows: list[NotedRow], origin: str) -> bytes:
    lines = LinesBuilder()
    for place, row in enumerate(rows):
        lines.add(row, place)
    numbers = np.array([row.number for row in rows], dtype=np.int64)
    contents = np.frombuffer(b"".join(row.content for row in rows), f"V{HASH_BYTES}")
    return lines.encode(origin, numbers, contents)


keys = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


@given(
    st.lists(
        st.tuples(st.binary(min_size=16, max_size=16), keys, st.lists(keys, max_size=2)),
        unique_by=lambda row: row[0],
    ),
    st.randoms(use_true_random=False),
)
def test_rows_are_found_in_any_order(found: list[Any], chooser: Any) -> None:
    rows = [
        NotedRow(digest, key, tuple(columns), number, bytes([number % 255 + 1]) * 32)
        for number, (digest, key, columns) in enumerate(found, 1)
    ]
    known = KnownLines(noted(rows, "origin"), "origin")
    order = chooser.sample(rows, len(rows)) + rows
    assert [known.find(row.digest) for row in order] == order
    strange = [bytes(16), b"\xff" * 16, *(row.digest[:8] + bytes(8) for row in rows)]
    own = {row.digest for row in rows}
    assert not any(known.find(digest) for digest in strange if digest not in own)
    assert KnownLines(noted(rows, "origin"), "another").find(bytes(16)) is None
    assert KnownLines(None, "origin").find(bytes(16)) is None


def test_rows_may_share_half_of_their_hashes() -> None:
    digests = [bytes(8) + bytes([number]) * 8 for number in range(3)]
    rows = [NotedRow(digest, "key", ("id",), 1, b"\1" * 32) for digest in digests]
    known = KnownLines(noted(rows, ""), "")
    assert known.find(digests[0]) == rows[0]
    assert known.find(digests[2]) in (rows[2], None)


def test_lines_of_skipped_and_failed_rows_are_not_noted() -> None:
    content = b"\1" * HASH_BYTES
    rows = [
        NotedRow(b"a" * 16, "skipped", ("id",), -1, content),
        NotedRow(b"b" * 16, "kept", ("id", "text"), 1, content),
        NotedRow(b"c" * 16, "failed for now", ("id",), 2, bytes(HASH_BYTES)),
        NotedRow(b"d" * 16, "kept too", ("text",), 3, content),
    ]
    known = KnownLines(noted(rows, "origin"), "origin")
    assert [known.find(row.digest) for row in rows] == [None, rows[1], None, rows[3]]
