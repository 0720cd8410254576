"""How `foundry serve` handles a folder, a file or a url without foundry.toml."""

import sys
from pathlib import Path

import pytest

from foundry.config.git_sources import GitSource
from foundry.config.project import load_config
from foundry.config.sources import FolderSource, RecordsSource
from foundry.config.web_sources import WebSource
from foundry.errors import FoundryError
from foundry.serving.adopt import adopt
from foundry.serving.options import Adopted

SEALS = "# Seals\n\nReplace the D40 seal yearly.\n"


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of projects, which is still empty."""
    folder = tmp_path / "home" / "caches"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder / "foundry"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "pump notes"
    folder.mkdir()
    (folder / "seals.md").write_text(SEALS)
    return folder


def adopted(written: Path | str) -> Adopted:
    found = adopt(str(written))
    assert isinstance(found, Adopted)
    return found


def write(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def test_a_project_can_be_named_by_folder_or_foundry_toml(notes: Path, caches: Path) -> None:
    config = write(notes / "foundry.toml", "")
    assert adopt(str(notes)) == notes
    assert adopt(str(config)) == notes
    assert not caches.exists()


def test_a_file_of_a_project_and_a_folder_of_that_name_are_documents(notes: Path) -> None:
    config = write(notes / "foundry.toml", "")
    found = adopted(notes / "seals.md")
    assert (found.source, found.lasting) == (str(notes / "seals.md"), str(notes))
    config.unlink()
    config.mkdir()
    assert adopted(config).lasting == str(config)


def test_a_folder_becomes_a_project_with_its_name(notes: Path, caches: Path) -> None:
    found = adopted(notes)
    assert (found.source, found.lasting, found.project.parent) == (str(notes), str(notes), caches)
    config = load_config(found.project)
    assert (config.project.name, config.project.title) == ("pump-notes", "pump notes")
    (source,) = config.sources
    assert isinstance(source, FolderSource)
    assert source.path == notes
    assert [path.name for path in notes.iterdir()] == ["seals.md"]


def test_a_file_is_served_without_its_neighbours(notes: Path) -> None:
    found = adopted(notes / "seals.md")
    config = load_config(found.project)
    assert config.project.title == "seals"
    (source,) = config.sources
    assert isinstance(source, FolderSource)
    assert (source.path, source.include) == (notes, ("/seals.md",))


@pytest.mark.parametrize(
    ("name", "content", "is_documents"),
    [
        ("rows.csv", "id,text\n1,Seals\n", True),
        ("rows.jsonl", '{"_id": "1", "text": "Seals"}\n', True),
        ("second.jsonl", '{\n{"id": "1", "text": "Seals"}\n', True),
        ("texts.csv", "name,text\n1,Seals\n", False),
        ("ids.csv", "id,name\n1,Seals\n", False),
        ("empty.csv", "", False),
        ("words.txt", '{"id": "1", "text": "Seals"}\n', False),
    ],
)
def test_a_table_with_id_and_text_columns_has_one_document_per_row(
    name: str, content: str, is_documents: bool, notes: Path
) -> None:
    file = write(notes / name, content)
    found = adopted(file)
    (source,) = load_config(found.project).sources
    assert isinstance(source, RecordsSource) == is_documents
    assert found.lasting == str(file if is_documents else notes)


@pytest.mark.parametrize(
    ("url", "kind", "title", "name"),
    [
        ("https://pumps.example/docs/", WebSource, "pumps.example/docs", "pumps-example-docs"),
        ("https://pumps.example/notes.git", GitSource, "pumps.example/notes.git", "pumps-example"),
        ("git@pumps.example:me/notes.git", GitSource, "git@pumps.example:me/notes.git", "git-pump"),
    ],
)
def test_a_url_becomes_a_project_named_after_it(
    url: str, kind: type, title: str, name: str, caches: Path
) -> None:
    found = adopted(url)
    assert (found.source, found.lasting, found.project.parent) == (url, url, caches)
    assert found.project.name.startswith(name)
    config = load_config(found.project)
    assert config.project.title == title
    assert isinstance(config.sources[0], kind)


def test_missing_paths_are_reported_and_nothing_is_written(tmp_path: Path, caches: Path) -> None:
    for written in (str(tmp_path / "nowhere"), str(tmp_path / "nowhere" / "foundry.toml")):
        with pytest.raises(FoundryError, match="no such folder or file") as caught:
            adopt(written)
        assert caught.value.hint
    assert not caches.exists()


def test_projects_with_equal_names_are_separate(tmp_path: Path) -> None:
    folders = [tmp_path / parent / "docs" for parent in "ab"]
    for folder in folders:
        folder.mkdir(parents=True)
    projects = [adopted(folder).project for folder in folders]
    assert [adopted(folder).project for folder in folders] == projects
    stems, digests = zip(*(project.name.rsplit("-", 1) for project in projects), strict=True)
    assert stems == ("docs", "docs")
    assert len({*digests}) == 2
    assert {len(digest) for digest in digests} == {12}


def test_a_name_may_have_no_latin_letters(tmp_path: Path) -> None:
    (tmp_path / "日本").mkdir()
    assert adopted(tmp_path / "日本").project.name.startswith("docs-")


def test_projects_are_private(notes: Path, caches: Path) -> None:
    found = adopted(notes)
    assert [path.stat().st_mode & 0o777 for path in (caches, found.project)] == [0o700] * 2
    found.project.chmod(0o755)
    adopted(notes)
    assert found.project.stat().st_mode & 0o777 == 0o700


def test_a_project_is_rewritten_only_if_it_differs(notes: Path) -> None:
    file = adopted(notes).project / "foundry.toml"
    first, text = file.stat(), file.read_text()
    adopted(notes)
    assert file.stat().st_ino == first.st_ino
    write(file, "[project]\n")
    adopted(notes)
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("platform", "variable", "folder"),
    [
        ("linux", None, ".cache"),
        ("linux", "caches/of/mine", ".cache"),
        ("darwin", None, "Library/Caches"),
    ],
    ids=["by default", "where the variable is no absolute path", "on a Mac"],
)
def test_folder_of_projects_by_operating_system(
    platform: str,
    variable: str | None,
    folder: str,
    notes: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", variable or "")
    assert adopted(notes).project.parent == tmp_path / "home" / folder / "foundry"
