"""What an update decides for each file by a three-way comparison, and what it reports."""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from processes import leftovers, snapshot

from foundry.errors import ExportError
from foundry.export import decisions
from foundry.export.checksums import compare, read_checksums
from foundry.export.decisions import Update
from foundry.export.existing import GENERATED, encode_generated, examine, read_generated
from foundry.export.update import update_export
from foundry.export.write import Export, write_export
from foundry.rendering.copying import RUNTIME

TEXT = "".join(f"line {number}\n" for number in range(12))
OLD = {
    "README.md": TEXT.encode(),
    "acme/__init__.py": b"",
    "acme/custom.py": b"HOOKS = None\n",
    "acme/dropped.py": b"dropped\n",
    "acme/search.py": TEXT.encode(),
    "acme/settings.json": b'{\n  "port": 8000\n}\n',
    "uv.lock": b"version = 1\n",
}
NEW = {
    **{name: content for name, content in OLD.items() if name != "acme/dropped.py"},
    "README.md": TEXT.replace("line 3\n", "line three\n").encode(),
    "acme/custom.py": b"HOOKS = 1\n",
    "acme/new.py": b"new\n",
    "acme/search.py": TEXT.replace("line 3\n", "line three\n").encode(),
    "uv.lock": b"version = 2\n",
}


class Place:
    """An export in a folder, updated from one set of files to another."""

    def __init__(self, root: Path) -> None:
        self.index = root / "index"
        self.index.mkdir(parents=True)
        (self.index / "manifest.json").write_text("old")
        self.target = root / "dist" / "acme"
        self.write(OLD)

    def export(self, files: Mapping[str, bytes]) -> Export:
        return Export(files, self.index, "acme/index")

    def write(self, files: Mapping[str, bytes]) -> None:
        write_export(self.target, self.export(files), force=False)

    def update(
        self, files: Mapping[str, bytes] = NEW, *, force: bool = False, dry_run: bool = False
    ) -> Update:
        return update_export(self.target, self.export(files), force=force, dry_run=dry_run)

    def read(self, name: str) -> str:
        return (self.target / name).read_text()

    def edit(self, name: str, old: str, new: str) -> None:
        text = self.read(name)
        assert old in text
        (self.target / name).write_text(text.replace(old, new))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_unedited_export_equals_a_new_one_after_an_update(place: Place, tmp_path: Path) -> None:
    (place.index / "manifest.json").write_text("new")
    update = place.update()
    assert update.replaced == ["README.md", "acme/custom.py", "acme/search.py", "uv.lock"]
    assert (update.added, update.removed) == (["acme/new.py"], ["acme/dropped.py"])
    assert update.is_settled
    updated = snapshot(place.target)
    write_export(tmp_path / "fresh", place.export(NEW), force=False)
    assert updated == snapshot(tmp_path / "fresh")
    assert leftovers(tmp_path) == []


def test_edits_far_from_changes_are_merged(place: Place) -> None:
    place.edit("acme/search.py", "line 9\n", "line nine\n")
    (place.target / "acme" / "search.py").chmod(0o755)
    update = place.update()
    assert (update.merged, update.conflicts) == (["acme/search.py"], [])
    assert place.read("acme/search.py") == TEXT.replace("line 3\n", "line three\n").replace(
        "line 9\n", "line nine\n"
    )
    assert stat.S_IMODE((place.target / "acme" / "search.py").stat().st_mode) == 0o755
    assert not compare(place.target)
    standing = examine(place.target)
    assert (standing.edited, standing.added) == (["acme/search.py"], [])


def test_edit_of_a_changed_line_is_a_conflict_and_stops_the_next_update(place: Place) -> None:
    place.edit("acme/search.py", "line 3\n", "line III\n")
    assert place.update().conflicts == ["acme/search.py"]
    text = place.read("acme/search.py")
    assert "<<<<<<< yours\nline III\n=======\nline three\n>>>>>>> generated\n" in text
    before = snapshot(place.target)
    with pytest.raises(ExportError, match="contains conflict markers"):
        place.update()
    assert snapshot(place.target) == before
    assert place.update(force=True).kept == ["acme/search.py"]
    place.edit("acme/search.py", text[text.index("<") : text.index("line 4")], "line 3a\n")
    assert place.update().kept == ["acme/search.py"]
    assert not compare(place.target)


def test_edits_survive_many_updates(place: Place) -> None:
    place.edit("README.md", "line 11\n", "line 11\nmine\n")
    for number in range(5):
        text = TEXT.replace("line 0\n", f"line zero {number}\n")
        update = place.update({**NEW, "README.md": text.encode()})
        assert update.merged == ["README.md"]
        assert place.read("README.md") == text + "mine\n"
    # The file counts as the owner's, although the list has its current hash.
    with pytest.raises(ExportError, match=r"(?s)edited or added.*README\.md"):
        place.write(NEW)


def test_owners_files_are_not_changed(place: Place) -> None:
    script = place.target / "scripts" / "deploy.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o750)
    os.utime(script, (1e9, 1e9))
    (place.target / "link").symlink_to("README.md")
    (place.target / ".git" / "refs").mkdir(parents=True)
    (place.target / ".env").write_text("API_TOKENS=secret\n")
    (place.target / "acme" / "mine.py").write_text("mine\n")
    update = place.update()
    assert update.is_settled
    status = script.stat()
    assert (stat.S_IMODE(status.st_mode), status.st_mtime, status.st_nlink) == (0o750, 1e9, 1)
    assert (place.target / "link").readlink() == Path("README.md")
    assert (place.target / ".git" / "refs").is_dir()
    assert place.read("acme/mine.py") == "mine\n"
    listed = read_checksums(place.target)
    assert {"scripts/deploy.sh", "acme/mine.py"} <= listed.keys()
    assert not {".env", "link"} & listed.keys()


def test_files_deleted_by_the_owner_stay_deleted_and_dropped_ones_are_removed(place: Place) -> None:
    (place.target / "README.md").unlink()
    assert place.update().deleted == ["README.md"]
    assert place.update().deleted == ["README.md"]
    assert not (place.target / "README.md").exists()
    assert not (place.target / "acme" / "dropped.py").exists()
    assert not compare(place.target)


def test_edited_file_that_is_no_longer_generated_is_kept(place: Place) -> None:
    place.edit("acme/dropped.py", "dropped", "dropped, mine")
    assert place.update().orphaned == ["acme/dropped.py"]
    assert place.read("acme/dropped.py") == "dropped, mine\n"
    assert examine(place.target).added == ["acme/dropped.py"]
    assert place.update().is_settled


def test_owners_module_is_never_merged(place: Place) -> None:
    place.edit("acme/custom.py", "HOOKS = None", "HOOKS = 'mine'")
    assert place.update().kept == ["acme/custom.py"]
    assert place.read("acme/custom.py") == "HOOKS = 'mine'\n"


def test_a_file_that_cannot_be_merged_is_written_beside_the_edited_one(place: Place) -> None:
    place.edit("uv.lock", "1", "1.5")
    (place.target / "acme" / "new.py").write_text("the owner's\n")
    update = place.update()
    assert update.beside == ["acme/new.py", "uv.lock"]
    assert place.read("uv.lock") == "version = 1.5\n"
    assert place.read("uv.lock.new") == "version = 2\n"
    assert place.read("acme/new.py") == "the owner's\n"
    assert place.read("acme/new.py.new") == "new\n"
    with pytest.raises(ExportError, match=r"uv\.lock\.new: is still there"):
        place.update()
    for name in ("uv.lock.new", "acme/new.py.new"):
        (place.target / name).unlink()
    assert not compare(place.target)
    assert place.update().is_settled


def test_dry_run_reports_the_same_and_writes_nothing(place: Place) -> None:
    place.edit("acme/search.py", "line 3\n", "line III\n")
    place.edit("README.md", "line 9\n", "line nine\n")
    before = snapshot(place.target)
    said = place.update(dry_run=True)
    assert snapshot(place.target) == before
    assert said == place.update()


def test_changed_index_stops_an_update(place: Place) -> None:
    (place.target / "acme" / "index" / "manifest.json").write_text("mine")
    with pytest.raises(ExportError, match="manifest"):
        place.update()


@pytest.mark.parametrize("content", [b"", b"nonsense", encode_generated({})[:-8]])
def test_damaged_record_is_refused(content: bytes, place: Place) -> None:
    (place.target / GENERATED).write_bytes(content)
    with pytest.raises(ExportError, match="cannot be read"):
        place.update()
    (place.target / GENERATED).unlink()
    with pytest.raises(ExportError, match="cannot be read"):
        place.update()


def test_links_in_place_of_files_are_kept_and_never_followed(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("outside\n")
    (place.target / "README.md").unlink()
    (place.target / "README.md").symlink_to(outside)
    assert place.update().kept == ["README.md"]
    assert outside.read_text() == "outside\n"
    assert (place.target / "README.md").readlink() == outside


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_folder_without_an_export_is_refused(name: str, place: Place, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ExportError, match="contains no export"):
        update_export(tmp_path / name, place.export(NEW), force=False, dry_run=False)


def test_record_contains_the_generated_files(tmp_path: Path) -> None:
    files = {"a": "größe\r\n".encode(), "binary": b"\xff\x00", "uv.lock": b"x"}
    (tmp_path / GENERATED).write_bytes(encode_generated(files))
    assert encode_generated(dict(reversed(files.items()))) == encode_generated(files)
    record = read_generated(tmp_path)
    assert record.texts == {"a": "größe\r\n"}
    assert record.digests.keys() == files.keys()


def test_edited_module_whose_code_moved_is_kept_and_reported(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(decisions.WENT, "dropped.py", "in search.py, as find()")
    place.edit("acme/dropped.py", "dropped", "mine")
    place.edit("acme/search.py", "line 9\n", "line nine\n")
    update = place.update()
    assert update.went == {"acme/dropped.py": "in search.py, as find()"}
    assert (update.orphaned, update.removed) == ([], [])
    assert place.read("acme/dropped.py") == "mine\n"
    assert update.is_settled


def test_every_function_of_a_moved_edited_module_is_reported_with_its_new_place(
    tmp_path: Path,
) -> None:
    older = {f"acme/{name}": b"generated\n" for name in decisions.WENT}
    place = Place(tmp_path)
    place.write({**OLD, **older})
    for name in older:
        place.edit(name, "generated", "mine")
    update = place.update()
    assert update.went == {f"acme/{name}": words for name, words in decisions.WENT.items()}
    assert all(place.read(name) == "mine\n" for name in older)
    for name, words in decisions.WENT.items():
        assert not (RUNTIME / name).exists()
        for functions, module in places_in(words):
            source = (RUNTIME / module).read_text()
            assert all(f"\ndef {function}(" in source for function in functions), module


def places_in(words: str) -> Iterator[tuple[list[str], str]]:
    """Yield, for each clause of a message about a moved module, its functions and its module."""
    folder = folders[0] if (folders := re.findall(r"[\w/]+/(?=:)", words)) else ""
    for clause in words.split(";"):
        (module,) = re.findall(r"[\w/]+\.py", clause)
        yield re.findall(r"(\w+)\(\)(?! became)", clause), folder + module
