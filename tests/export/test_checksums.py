"""The checksums of an export's files, and how a folder differs from them."""

import hashlib
from pathlib import Path

import pytest

from foundry.errors import VerificationError
from foundry.export.checksums import (
    CHECKSUMS,
    UNLISTED,
    compare,
    format_checksums,
    is_owners,
    list_files,
    read_checksums,
)

FILES = {"README.md": b"read me\n", "acme/a.py": b"", "acme/deep/b.bin": b"\x00\xff"}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    listed = format_checksums({name: digest(content) for name, content in FILES.items()})
    (tmp_path / CHECKSUMS).write_bytes(listed)
    return tmp_path


def test_list_is_valid_for_sha256sum(folder: Path) -> None:
    digests = {name: digest(content) for name, content in reversed(FILES.items())}
    lines = [f"{digest(content)}  {name}\n" for name, content in sorted(FILES.items())]
    assert format_checksums(digests).decode() == "".join(lines)
    assert read_checksums(folder) == digests
    assert compare(folder) == {}


def test_every_difference_is_reported(folder: Path) -> None:
    (folder / "README.md").write_bytes(b"read me\n\n")
    (folder / "acme" / "a.py").unlink()
    (folder / "acme" / "deep" / "b.bin").unlink()
    for name in ("z.txt", "acme/deep/y.txt"):
        (folder / name).write_bytes(b"")
    assert list(compare(folder).items()) == [
        ("README.md", "changed"),
        ("acme/a.py", "missing"),
        ("acme/deep/b.bin", "missing"),
        ("acme/deep/y.txt", UNLISTED),
        ("z.txt", UNLISTED),
    ]


def test_links_are_changes_and_are_never_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "README.md").rename(folder / "copy.md")
    (folder / "README.md").symlink_to(folder / "copy.md")
    (folder / "around").symlink_to(folder, target_is_directory=True)
    assert compare(folder) == {
        "README.md": "changed, a link",
        "around": f"{UNLISTED}, a link",
        "copy.md": UNLISTED,
    }


def test_files_that_running_creates_are_ignored(folder: Path) -> None:
    for name in ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"):
        (folder / "acme" / name).mkdir()
        (folder / "acme" / name / "left").write_bytes(b"x")
    assert list(list_files(folder)) == ["README.md", CHECKSUMS, "acme/a.py", "acme/deep/b.bin"]
    assert compare(folder) == {}


@pytest.mark.parametrize(
    ("name", "is_theirs"),
    [
        (".env", True),
        (".git/config", True),
        (".venv/bin/python", True),
        ("acme/.env", False),
        (".environment", False),
        ("README.md", False),
    ],
)
def test_secrets_history_and_environments_are_not_checked(name: str, is_theirs: bool) -> None:
    assert is_owners(name) == is_theirs


@pytest.mark.parametrize("line", range(3))
@pytest.mark.parametrize(
    "written",
    [
        f"{63 * 'a'}  name",
        f"{65 * 'a'}  name",
        f"{64 * 'a'} name",
        f"{64 * 'a'}  ",
        f"{64 * 'a'}  /etc/passwd",
        f"{64 * 'a'}  acme/../../name",
        "",
    ],
)
def test_malformed_line_is_named_by_its_number(written: str, line: int, folder: Path) -> None:
    lines = (folder / CHECKSUMS).read_text().splitlines()
    lines[line] = written
    (folder / CHECKSUMS).write_text("\n".join(lines) + "\n")
    with pytest.raises(VerificationError, match=f"SHA256SUMS: line {line + 1} is malformed"):
        read_checksums(folder)


def test_names_may_contain_two_dots(folder: Path) -> None:
    digests = {"a..b": 64 * "a", "..c/d": 64 * "b"}
    (folder / CHECKSUMS).write_bytes(format_checksums(digests))
    assert read_checksums(folder) == digests


@pytest.mark.parametrize("change", ["another order", "a line twice", "no last newline"])
def test_list_in_another_form_counts_as_changed(change: str, folder: Path) -> None:
    content = (folder / CHECKSUMS).read_bytes()
    lines = content.splitlines(keepends=True)
    changed = {
        "another order": b"".join(reversed(lines)),
        "a line twice": b"".join([lines[0], *lines]),
        "no last newline": content[:-1],
    }
    (folder / CHECKSUMS).write_bytes(changed[change])
    with pytest.raises(VerificationError, match="SHA256SUMS: changed"):
        read_checksums(folder)


def test_unreadable_list(folder: Path) -> None:
    (folder / CHECKSUMS).write_bytes(b"\xff")
    with pytest.raises(VerificationError, match="SHA256SUMS: line 1 is malformed"):
        compare(folder)
    (folder / CHECKSUMS).unlink()
    with pytest.raises(VerificationError, match="SHA256SUMS: unreadable"):
        compare(folder)
