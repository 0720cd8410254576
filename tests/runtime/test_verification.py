"""What a server says of its own files."""

import hashlib
from pathlib import Path

import pytest

from foundry.runtime import verification
from foundry.runtime.verification import find_changed

FILES = {"README.md": b"read me\n", "acme/search.py": b"pass\n", "acme/data/chunks.jsonl": b"{}\n"}


@pytest.fixture
def export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files and the list of their hashes."""
    monkeypatch.setattr(verification, "PACKAGE", tmp_path / "acme")
    lines = []
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
        lines.append(f"{hashlib.sha256(content).hexdigest()}  {name}\n")
    (tmp_path / "SHA256SUMS").write_text("".join(lines))
    return tmp_path


def test_whole_export_has_no_findings(export: Path) -> None:
    assert list(find_changed(export)) == []
    (export / "mine.txt").write_text("what is not listed is the owner's")
    # Which index is served is not known here, and the index has hashes of its own.
    (export / "acme/data/chunks.jsonl").unlink()
    assert list(find_changed(export)) == []


def test_damage_is_named(export: Path) -> None:
    (export / "README.md").unlink()
    (export / "acme/search.py").write_bytes(b"Pass\n")
    assert list(find_changed(export)) == [
        "README.md: cannot be read",
        "acme/search.py: changed since SHA256SUMS was written",
    ]


def test_list_that_is_missing_or_damaged(export: Path) -> None:
    for content in (b"nonsense\n", b"\xff", f"{'0' * 64} x".encode()):
        (export / "SHA256SUMS").write_bytes(content)
        assert list(find_changed(export)) == ["SHA256SUMS: line 1 is malformed"]
    (export / "SHA256SUMS").write_bytes(b"%(none)b  a\0b\n%(none)b  \xff\n" % {b"none": b"0" * 64})
    assert len(list(find_changed(export))) == 2
    (export / "SHA256SUMS").unlink()
    assert list(find_changed(export)) == []
    (export / "SHA256SUMS").mkdir()
    (found,) = find_changed(export)
    assert found.startswith("SHA256SUMS: unreadable")
