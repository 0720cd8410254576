"""Which tests `make room` runs for a folder of foundry/."""

import tomllib
from pathlib import Path

import pytest
from room_tests import DATA, ROOT, find_tests, main

MAPPED = {
    "stores.rows": ["tests/test_rows.py", "tests/test_both.py"],
    "stores.records": ["tests/test_both.py"],
    "runtime.chat.text": ["tests/runtime/test_text.py", "templates/server/tests/chat/test_text.py"],
    "storeside.other": ["tests/test_other.py"],
}


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        ("stores", ["tests/test_both.py", "tests/test_rows.py"]),
        ("stores/rows", ["tests/test_both.py", "tests/test_rows.py"]),
        ("stores.records", ["tests/test_both.py"]),
        ("runtime", ["templates/server/tests/chat/test_text.py", "tests/runtime"]),
        ("store", []),
    ],
)
def test_a_room_has_the_tests_of_its_modules(
    room: str, expected: list[str], tmp_path: Path
) -> None:
    (tmp_path / "tests" / "runtime").mkdir(parents=True)
    assert find_tests(room, MAPPED, tmp_path) == expected


def test_every_mapped_test_exists() -> None:
    mapped = tomllib.loads(DATA.read_text())["tests"]
    for room in {module.partition(".")[0] for module in mapped}:
        found = find_tests(room, mapped)
        assert found
        assert [name for name in found if not (ROOT / name).exists()] == []


def test_unknown_rooms_are_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attic"]) == 2
    assert "no tests of 'attic'; rooms are building, " in capsys.readouterr().err
    assert main(["stores"]) == 0
    assert "tests/test_store_qdrant_parts.py" in capsys.readouterr().out
