"""Golden projects: each export is checked in, compared byte for byte, installed and queried.

Regenerate with `make golden`, and read the diff: it shows how a change affects servers. One case,
`WHOLE`, can be read from top to bottom; of the others, only rendered files are checked in.
Everything else is compared by its hash in SHA256SUMS: binary files, excerpts of templates/uv.lock,
and, in the others, the index, copies of foundry/runtime/ and of its tests, and the questions.
"""

import json
import shutil
import subprocess
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from embedding_services import fake_service
from import_circles import find_circle
from packaging.markers import Marker
from sharing import formatted_once

import foundry.runtime
from foundry.cli.main import main
from foundry.config.project import load_config
from foundry.export.checksums import list_files
from foundry.export.differences import diff_folder

GOLDEN = Path(__file__).parent.parent / "golden"
CASES = sorted(path.parent.name for path in GOLDEN.glob("*/foundry.toml"))
SERVICE_KEY = "key-of-the-golden-service"
INPUTS = ("foundry.toml", "sources", "questions.jsonl")
WHOLE = "minimal"
"""The case whose export can be read from top to bottom."""

RUNTIME = Path(foundry.runtime.__file__).parent
COPIED = {*RUNTIME.glob("**/*.py")} - {RUNTIME / "__init__.py"}
"""Modules that servers contain unchanged, if at all."""


def export_case(case: str, folder: Path) -> Path:
    """Build and export a copy of a golden project in `folder`."""
    project = folder / case
    project.mkdir()
    for name in INPUTS:
        source = GOLDEN / case / name
        copy = shutil.copytree if source.is_dir() else shutil.copyfile
        copy(source, project / name)
    # The embedding service, if a case uses one, has the same vectors on every machine. One case is
    # formatted like users' exports.
    haste = nullcontext() if case == WHOLE else formatted_once()
    with haste, fake_service("openai", key=SERVICE_KEY) as service:
        variables = {"EMBEDDING_BASE_URL": service.base_url, "EMBEDDINGS_KEY": SERVICE_KEY}
        for command in ("build", "export"):
            result = CliRunner().invoke(main, [command, str(project)], env=variables)
            assert result.exit_code == 0, result.output
    return next((project / "dist").iterdir())


@pytest.fixture(
    scope="module",
    params=[
        case if case == WHOLE else pytest.param(case, marks=pytest.mark.slow) for case in CASES
    ],
)
def case(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Export a case when it is first needed; tests must not change it."""
    return cache(lambda case: export_case(case, tmp_path_factory.mktemp("golden")))


@pytest.fixture(scope="module")
def export(case: str, exports: Callable[[str], Path]) -> Path:
    return exports(case)


def test_modules_have_no_circular_imports(export: Path) -> None:
    (package,) = (path.parent for path in export.glob("*/search.py"))
    paths = package.rglob("*.py")
    modules = {path.relative_to(package).as_posix(): path.read_bytes() for path in paths}
    assert find_circle(modules) == []
    # The check itself must find a planted circle.
    opening = modules["search.py"] + b"from . import app\n"
    assert {"search.py", "app.py"} <= {*find_circle({**modules, "search.py": opening})}


def is_left_out(case: str, name: str) -> bool:
    """Return whether only the hash of a file is checked in."""
    path = Path(name)
    is_copied_test = path.parts[0] == "tests" and len(path.parts) > 2
    is_copy = is_copied_test or path.name == "questions.jsonl" or path.parts[1:2] == ("data",)
    is_copy |= path.suffix == ".py" and RUNTIME.joinpath(*path.parts[1:]) in COPIED
    if case != WHOLE and is_copy:
        return True
    return path.suffix in {".bin", ".bz2", ".npy"} or path.name in {
        "pieces.txt",
        "requirements.txt",
        "uv.lock",
    }


def test_export_is_the_golden_one(case: str, export: Path, request: pytest.FixtureRequest) -> None:
    actual = {name: (export / name).read_bytes() for name in list_files(export)}
    copied = set() if case == WHOLE else {path.read_bytes() for path in RUNTIME.glob("**/*.*")}
    actual = {
        name: content
        for name, content in actual.items()
        if not is_left_out(case, name) and content not in copied
    }
    expected_folder = GOLDEN / case / "expected"
    if request.config.getoption("--update-golden"):
        shutil.rmtree(expected_folder, ignore_errors=True)
        for name, content in actual.items():
            path = expected_folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    differences = diff_folder(expected_folder, actual, {}, ignored=partial(is_left_out, case))
    assert not differences, f"regenerate with: make golden\n{differences}"


def test_reviews_show_rendered_files_and_hide_copied_ones() -> None:
    folder = GOLDEN.parent / "templates" / "server"
    templates = {path.relative_to(folder).with_suffix("") for path in folder.rglob("*.jinja")}
    rendered = {str(path).replace("package/", "workshop/") for path in templates}
    copied = {f"workshop/{path.relative_to(RUNTIME)}" for path in RUNTIME.glob("**/*.*")} - rendered
    rendered |= {"workshop/settings.json", "workshop/figures.json", "corpus.json"}
    copied |= {str(path.relative_to(folder)) for path in (folder / "tests").rglob("*.py")}
    copied |= {"SHA256SUMS", "sbom.cdx.json", "workshop/data/manifest.json"}
    names = sorted(rendered | copied)
    done = subprocess.run(
        ["git", "check-attr", "-z", "--stdin", "linguist-generated"],
        cwd=GOLDEN / WHOLE,
        input="\0".join(f"expected/{name}" for name in names),
        capture_output=True,
        text=True,
        check=True,
    )
    found = zip(names, done.stdout.split("\0")[2::3], strict=True)
    assert {name for name, value in found if value == "set"} == copied


@pytest.mark.slow
def test_export_answers_in_a_clean_environment(case: str, export: Path, tmp_path: Path) -> None:
    """One export is installed, with an engine; the others use the tests' packages."""
    from servers import get, in_checkout, install, installed_packages, serving

    command = in_checkout(export)
    if case == "store":
        command = [install(export, environment := tmp_path / "environment")]
        bill = json.loads((export / "sbom.cdx.json").read_bytes())
        assert installed_packages(environment) == packages_here(bill)
    lines = (GOLDEN / case / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    with engine_of(export.parents[1]) as variables, serving(command, **variables) as address:
        for line in lines:
            question = json.loads(line)
            query = urllib.parse.quote(question["query"])
            answer = get(f"{address}/search?q={query}&top_k=5")
            assert is_answered(question, answer), (question, answer)


@contextmanager
def engine_of(project: Path) -> Iterator[dict[str, str]]:
    """Return the variables with which the server finds the engine that has its index."""
    if load_config(project).store.is_embedded:
        yield {}
        return
    from stores import running_postgres

    with running_postgres() as address:
        variables = {"DATABASE_URL": address}
        result = CliRunner().invoke(main, ["publish", str(project)], env=variables)
        assert result.exit_code == 0, result.output
        yield variables


def packages_here(bill: dict[str, Any]) -> dict[str, str]:
    """Return the versions of the server and its requirements on this machine, by name."""
    found = {
        entry["name"]: entry["version"]
        for entry in bill["components"]
        if all(Marker(marker["value"]).evaluate() for marker in entry.get("properties", ()))
    }
    own = bill["metadata"]["component"]
    return {**found, own["name"]: own["version"]}


def is_answered(question: dict[str, Any], answer: dict[str, Any]) -> bool:
    """Return whether a relevant document is first, or among the first five if that suffices."""
    relevant = set(question["relevant"])
    depth = 1 if question.get("first") else 5
    found = any(
        relevant & {result["id"], result["document_id"], result["path"]}
        for result in answer["results"][:depth]
    )
    return found and question.get("mode", answer["mode"]) == answer["mode"]
