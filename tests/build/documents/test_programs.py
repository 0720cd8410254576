"""What is known of documents outlives what cannot matter to them, and nothing that can."""

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import resolve_name
from pathlib import Path

import pytest
from conftest import MakeProject, Project

import foundry
from foundry.build.documents import programs
from foundry.build.documents.programs import PREPARING, imported_by, libraries_of

SOURCE = Path(foundry.__file__).parent
NOTES = {"a.md": "# Seals\n\nReplace the D40 seal yearly.\n", "b.txt": "Pumps are tested."}


def forget() -> None:
    """As in a process that has just begun."""
    for cached in (
        programs.program_hash,
        programs.imported_by,
        programs._imports,
        programs._required_modules,
    ):
        cached.cache_clear()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of Foundry's code, which stands for what is installed."""
    copy = tmp_path / "site" / "foundry"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__", "models"))
    monkeypatch.setattr(programs, "ROOT", copy)
    monkeypatch.setattr("foundry.sources.stamps.TICK_NS", -1)
    forget()
    return copy


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
    """Documents that a build has prepared, by the code and the libraries as they are now."""
    programs.program_hash.cache_clear()
    answer = json.loads(project.succeed("build", "--quiet", "--json").stdout)
    return int(answer["changes"]["read"])


PREPARING_MODULES = [
    "readers/formats/markdown.py",
    "readers/formats/pdf.py",
    "chunking/sections.py",
    "build/documents/signature.py",
    "embedding/static.py",
    "indexing/terms.py",
    "build/documents/preparer.py",
    "runtime/retrieval/tokens.py",
    "secrets.py",
]
OTHER_MODULES = [
    "__init__.py",
    "build/run.py",
    "cli/main.py",
    "cli/building.py",
    "export/update.py",
    "indexing/writer.py",
    "pipeline.py",
    "rendering/plan.py",
    "runtime/web/serving.py",
    "sources/folder.py",
    "build/watch.py",
]


def change(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8") + "\n# Changed.\n", encoding="utf-8")


def test_a_changed_module_that_prepares_reads_anew(built: Project, installed: Path) -> None:
    for module in PREPARING_MODULES:
        change(installed / module)
        assert read_by_build(built) == 2, module
        assert read_by_build(built) == 0, module


def test_a_changed_module_that_does_not_prepare_reads_nothing(
    built: Project, installed: Path
) -> None:
    for module in OTHER_MODULES:
        change(installed / module)
        assert read_by_build(built) == 0, module


def other_version(library: str) -> Callable[[str], str]:
    return lambda name: "99.0" if name.lower() == library.lower() else version(name)


def test_only_another_version_of_a_library_that_prepares_reads_anew(
    built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    preparing = ["markdown-it-py", "mdurl", "snowballstemmer", "PyStemmer", "numpy"]
    preparing += ["tree-sitter-go", "lxml"]
    others = ["watchfiles", "uvicorn", "click", "jinja2", "black", "httpx2"]
    for library in [*preparing, *others]:
        monkeypatch.setattr(programs, "version", other_version(library))
        assert read_by_build(built) == (2 if library in preparing else 0), library
        monkeypatch.setattr(programs, "version", version)
        assert read_by_build(built) == (2 if library in preparing else 0), library


def test_a_new_import_counts(built: Project, installed: Path) -> None:
    """What a module begins to import decides from then on, however that is written."""
    (installed / "fresh.py").write_text('"""New."""\n', encoding="utf-8")
    (installed / "runtime" / "retrieval" / "fresher.py").write_text(
        "import jinja2\n", encoding="utf-8"
    )
    path = installed / "runtime" / "retrieval" / "tokens.py"
    added = 'def f():\n    from .fresher import x\n    import_module("foundry.fresh")\n'
    path.write_text(path.read_text(encoding="utf-8") + added, encoding="utf-8")
    forget()
    modules, _ = imported_by(PREPARING)
    assert {"foundry.fresh", "foundry.runtime.retrieval.fresher"} <= modules
    assert "jinja2" in libraries_of(PREPARING)


def test_what_only_type_checkers_import_does_not_count(installed: Path) -> None:
    path = installed / "runtime" / "retrieval" / "tokens.py"
    added = "if TYPE_CHECKING:\n    import foundry.cli.main\nelse:\n    import foundry.build.lock\n"
    path.write_text(path.read_text(encoding="utf-8") + added, encoding="utf-8")
    forget()
    modules, _ = imported_by(PREPARING)
    assert "foundry.cli.main" not in modules
    assert "foundry.build.lock" in modules


class WithoutTypes(ast.NodeTransformer):
    """Takes out what only type checkers read."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        return node.orelse if ast.unparse(node.test) == "TYPE_CHECKING" else node


def imports_of(module: str) -> set[str]:
    """What the syntax tree of a module imports, by whole names."""
    path = programs._path_of(module)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(WithoutTypes().visit(ast.parse(path.read_bytes()))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            found.update([base, *(f"{base}.{alias.name}" for alias in node.names)])
    return found


def test_every_import_of_the_syntax_tree_is_found() -> None:
    modules, others = imported_by("foundry.cli.main")
    assert len(modules) > 200
    for module in modules:
        for name in imports_of(module):
            if name.startswith("foundry"):
                assert name in modules or not programs._path_of(name).is_file(), (module, name)
            else:
                assert name.partition(".")[0] in others, (module, name)


PREPARE = """
import sys
from foundry.build.documents.preparer import open_task
from foundry.build.documents.recipe import Recipe
from foundry.records import RawDocument
from foundry.config.project import load_config
from foundry.readers.code.outline import READERS
from pathlib import Path
answer = open_task(Recipe.of(load_config(Path(sys.argv[1]))).to_json())
for name, content in {names!r}.items():
    raw = RawDocument("s", name, name, content.encode())
    answer(raw.describe(), raw.content)
for reader in READERS.values():
    reader.read(b"x = 1")
print(*(name for name in sys.modules if name.partition(".")[0] == "foundry"))
"""


def test_what_preparing_imports_is_what_is_hashed(make_project: MakeProject) -> None:
    project = make_project(NOTES)
    names = {
        **NOTES,
        "c.html": "<h1>Valves</h1><p>Close them.",
        "d.go": "package d\n",
        "e.rst": "R",
    }
    done = subprocess.run(
        [sys.executable, "-c", PREPARE.format(names=names), project.root],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    modules, _ = imported_by(PREPARING)
    assert set(done.stdout.split()) <= modules


def test_libraries_of_readers_are_found() -> None:
    found = {name.lower() for name in libraries_of(PREPARING)}
    assert {
        *("charset-normalizer", "docutils", "html-to-markdown"),
        *("mammoth", "markdown-it-py", "olefile", "pypdfium2", "python-calamine", "python-pptx"),
        *("pyyaml", "selectolax", "semantic-text-splitter", "striprtf", "tree-sitter"),
        *("tree-sitter-bash", "tree-sitter-typescript"),
    } <= found


def test_the_first_module_holds_the_version_alone() -> None:
    """It is left out of what is hashed, so that a release without changes reads nothing anew."""
    tree = ast.parse((SOURCE / "__init__.py").read_bytes())
    assert ast.get_docstring(tree)
    assert [ast.unparse(node).partition(" = ")[0] for node in tree.body[1:]] == ["__version__"]
