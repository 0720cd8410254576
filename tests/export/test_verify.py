"""The checks when verifying a folder, and their order."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from small_exports import ANSWERS, FILES

from foundry.errors import FoundryError, VerificationError
from foundry.export.checksums import CHECKSUMS, format_checksums, list_files
from foundry.export.verify import find_package, verify_export
from foundry.export.write import Export, write_export
from foundry.files import hash_file

pytestmark = pytest.mark.usefixtures("forked_servers")

MARKED = b"<<<<<<< yours\na\n=======\nb\n>>>>>>> new\n"


def write(root: Path, files: Mapping[str, bytes] = FILES, *, index: bytes = b"{}") -> Path:
    (root / "index").mkdir(parents=True)
    (root / "index" / "manifest.json").write_bytes(index)
    write_export(root / "export", Export(files, root / "index", "acme/index"), force=False)
    return root / "export"


def take_note(folder: Path) -> None:
    """Rewrite the list of files, as an update does after the owner's edits."""
    names = [name for name in list_files(folder) if name != CHECKSUMS]
    listed = {name: hash_file(folder / name) for name in names if not name.startswith(".env")}
    (folder / CHECKSUMS).write_bytes(format_checksums(listed))


def refused(folder: Path, *, strict: bool = False) -> VerificationError:
    with pytest.raises(VerificationError) as caught:
        verify_export(folder, strict=strict)
    return caught.value


def test_intact_export_gives_the_report_of_its_server(tmp_path: Path) -> None:
    folder = write(tmp_path)
    # No list contains this file, so it is the owner's.
    (folder / ".env").write_text("PORT=8001\n", encoding="utf-8")
    assert verify_export(folder, strict=True) == {
        "export": str(folder),
        "documents": 3,
        "findings": [],
        "not_installed": [],
        "edited": [],
        "added": [],
        "deleted": [],
        "since_update": [],
    }


def test_recorded_edits_are_listed(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "README.md").unlink()
    (folder / "acme" / "__init__.py").write_text("MINE = 1\n")
    (folder / "notes.txt").write_text("mine\n")
    # The owner's own files are not checked.
    (folder / ".env").write_bytes(MARKED)
    take_note(folder)
    report = verify_export(folder)
    assert (report["edited"], report["added"], report["deleted"]) == (
        ["acme/__init__.py"],
        ["notes.txt"],
        ["README.md"],
    )


def test_unrecorded_edits_are_listed_or_refused(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "notes.txt").write_text("mine\n")
    assert verify_export(folder)["since_update"] == ["notes.txt"]
    error = refused(folder, strict=True)
    assert "notes.txt: not part of the export" in str(error)
    assert error.hint is not None and error.hint.startswith("restore the named files")


def test_unresolved_merges_are_refused(tmp_path: Path) -> None:
    # The index contains other people's texts, which may contain conflict markers.
    folder = write(tmp_path, index=MARKED)
    assert verify_export(folder)["edited"] == []
    (folder / "README.md").write_bytes(MARKED)
    take_note(folder)
    error = refused(folder)
    assert "README.md: contains conflict markers" in str(error)
    assert error.hint is not None and error.hint.startswith("resolve the named problems")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (b"import sys; print('out'); sys.exit(' boom ')\n", "acme verify: boom"),
        (b"print(' out ')\n", "acme verify: out"),
        (b"", "acme verify: no output"),
        (b"print('{}')\n", "acme verify: {}"),
        (b"print('[]')\n", "acme verify: []"),
        (b'print(\'{"findings": ["x.npy: changed", "y"]}\')\n', "x.npy: changed"),
    ],
)
def test_server_that_reports_a_finding_or_fails(code: bytes, said: str, tmp_path: Path) -> None:
    module = b"if __name__ == '__main__':\n    pass\n    " + code
    error = refused(write(tmp_path, {**FILES, "acme/__main__.py": module}))
    lines = str(error).splitlines()
    assert lines[1].strip() == said
    assert len(lines) == 2 + ("x.npy" in said)


def test_server_that_cannot_be_imported_or_does_not_start(tmp_path: Path) -> None:
    broken = write(tmp_path / "a", {**FILES, "acme/search.py": b"1 / 0\n"})
    assert "acme.search: cannot be imported: ZeroDivisionError" in str(refused(broken))
    mute = ANSWERS.replace(b"    server = ", b"    sys.exit('no')\n    server = ")
    assert "the server does not start: no" in str(
        refused(write(tmp_path / "b", {**FILES, "acme/__main__.py": mute}))
    )


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FoundryError, match="nowhere: no such folder") as caught:
        verify_export(tmp_path / "nowhere")
    assert caught.value.hint == "name the folder of an export"


def test_one_package_is_one_folder_with_settings(tmp_path: Path) -> None:
    with pytest.raises(VerificationError, match="server packages, not one"):
        find_package(tmp_path)
    for number, name in enumerate(("acme", "other")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "settings.json").write_text("{}")
        if not number:
            assert find_package(tmp_path) == "acme"
    with pytest.raises(VerificationError, match="server packages, not one"):
        find_package(tmp_path)
