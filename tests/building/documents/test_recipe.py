"""Cached documents become invalid when code changes that their content may depend on."""

import ast
import shutil
from pathlib import Path

import pytest
from conftest import MakeProject, Project

import foundry
from foundry.building.documents import programs
from foundry.building.documents.programs import installation, program_hash, reader_hashes
from foundry.readers.formats import plain
from foundry.readers.registry import every_reader

SOURCE = Path(foundry.__file__).parent
NOTES = {"a.md": "# Seals\n\nReplace the D40 seal yearly.\n", "b.txt": "Pumps are tested."}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of Foundry's code, in place of the installed one."""
    copy = tmp_path / "site" / "foundry"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__", "models"))
    monkeypatch.setattr(programs, "ROOT", copy)
    monkeypatch.setattr("foundry.state.stamps.TICK_NS", -1)
    return copy


def forget() -> None:
    for function in (program_hash, reader_hashes, programs._installed):
        function.cache_clear()


@pytest.fixture(autouse=True)
def forgotten() -> object:
    yield
    forget()


@pytest.fixture
def built(installed: Path, make_project: MakeProject) -> Project:
    project = make_project(NOTES)
    assert read_by_build(project) == 2
    assert read_by_build(project) == 0
    return project


def read_by_build(project: Project) -> int:
    """Return the number of documents that a build prepares with the current code and libraries."""
    forget()
    return int(project.build()["changes"]["read"])


def change(module: Path) -> None:
    module.write_text(module.read_text(encoding="utf-8") + "\n# Changed.\n", encoding="utf-8")


def test_changes_that_invalidate_all_documents(
    built: Project, installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (installed / "__init__.py").write_text('__version__ = "99.0"\n', encoding="utf-8")
    assert read_by_build(built) == 0, "a new version alone"
    for module in ("runtime/index/tokens.py", "chunking/blocks.py", "readers/decoding.py"):
        change(installed / module)
        assert read_by_build(built) == 2, module
        assert read_by_build(built) == 0, module
    libraries = programs._libraries()
    assert "uvicorn" not in libraries
    monkeypatch.setattr(programs, "_libraries", lambda: {**libraries, "mdurl": "99.0"})
    assert read_by_build(built) == 2
    assert read_by_build(built) == 0


def test_a_changed_reader_invalidates_only_its_formats(
    installed: Path, make_project: MakeProject
) -> None:
    page = "<html><body><p>Valves are cleaned monthly by hand, and then dried.</p></body></html>"
    project = make_project({**NOTES, "c.html": page, "d.py": "def clean():\n    return 'valves'\n"})
    assert read_by_build(project) == 4
    for module, anew in {
        "readers/formats/markdown/reader.py": 1,
        # Markdown can contain HTML.
        "readers/formats/pages/tables.py": 2,
        "readers/code/languages.toml": 1,
        "readers/formats/pdf/page.py": 0,
        "export/write.py": 0,
    }.items():
        change(installed / module)
        assert read_by_build(project) == anew, module


def test_a_changed_assignment_of_formats_invalidates_all_documents(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dict(reader_hashes())
    media_types = plain.READER.media_types
    monkeypatch.setitem(media_types, ".of-nobody-else", "text/plain")
    forget()
    after = reader_hashes()
    assert before.keys() == after.keys()
    assert all(before[version] != after[version] for version in before)


def test_other_correction_words_change_the_index_but_no_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = program_hash(), dict(reader_hashes())
    words = tmp_path / "stems.npy"
    words.write_bytes(programs.ENGLISH_STEMS.read_bytes() + b"x")
    monkeypatch.setattr(programs, "ENGLISH_STEMS", words)
    forget()
    assert program_hash() != before[0]
    assert dict(reader_hashes()) == before[1]


def test_every_reader_has_a_hash_over_its_own_module() -> None:
    files = programs._installed().files
    for reader in every_reader():
        assert len(reader_hashes()[reader.version]) == 64
        own = {programs._file_of(each, files) for each in programs._functions(reader)}
        assert any(name.startswith("readers/") for name in own), reader.version


def test_libraries_of_readers_are_found() -> None:
    found = {name.lower() for name in installation()}
    assert {
        *("charset-normalizer", "docutils", "numpy", "pystemmer"),
        *("markdown-it-py", "olefile", "pypdfium2", "python-calamine"),
        *("pyyaml", "selectolax", "tree-sitter"),
        *("tree-sitter-bash", "tree-sitter-typescript"),
    } <= found


def test_the_first_module_contains_only_the_version() -> None:
    """The first module is not hashed, so a release without other changes reads nothing again."""
    tree = ast.parse((SOURCE / "__init__.py").read_bytes())
    assert ast.get_docstring(tree)
    assert [ast.unparse(node).partition(" = ")[0] for node in tree.body[1:]] == ["__version__"]
