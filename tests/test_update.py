"""Updates through the command line: an older export, edited by its owner, gets the changes."""

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import CONFIG, MakeProject, Project
from faults import EVERY_FAULT, FAULTS, each_fault
from processes import leftovers, snapshot
from servers import check_format, check_types, in_checkout, run_tests

from foundry.cli.main import main
from foundry.config.project import load_config
from foundry.export import decisions
from foundry.export.checksums import compare
from foundry.export.write import Export, write_export
from foundry.features.providers import PROVIDERS
from foundry.rendering.design import Design
from foundry.rendering.plan import plan_server

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

OLDER = Path(__file__).parent / "fixtures" / "older-export.tar.gz"
"""The text files of an export by the first release, of a server that only searches."""

SMALL = CONFIG + "[server]\nmcp = false\nchat = false\npage = false\n"
NOTE = {"note.md": "# Pumps\n\nA pump has a seal.\n\n## Seals\n\nReplace the D40 seal yearly.\n"}
HOOKS = '''
"""What this owner adds."""

from dataclasses import replace

from fastapi import FastAPI

from .retrieval.hooks import Caller, Hooks, SearchRequest
from .retrieval.results import SearchResponse


def before_search(request: SearchRequest) -> SearchRequest:
    """Say what people mean."""
    return replace(request, query=request.query.replace("gasket", "seal"))


def after_search(request: SearchRequest, response: SearchResponse) -> SearchResponse:
    """Give one hit at most."""
    return replace(response, hits=response.hits[:1])


def authorise(caller: Caller) -> bool:
    """Keep one team out."""
    return caller.headers.get("x-team") != "sales"


def add_routes(app: FastAPI) -> None:
    """Add a door."""

    @app.get("/hello")
    def hello() -> dict[str, str]:
        return {"hello": "owner"}


HOOKS = Hooks(before_search, after_search, authorise, add_routes)
'''


def update(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["update", str(folder), *arguments])


def updated(folder: Path, *arguments: str) -> str:
    result = update(folder, *arguments)
    assert result.exit_code == 0, result.output
    return result.output


def run_in(export: Path, *command: str | Path) -> str:
    done = subprocess.run(command, cwd=export, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def verified(export: Path) -> str:
    result = CliRunner().invoke(main, ["verify", str(export)])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def project(make_project: MakeProject) -> Project:
    project = make_project(NOTE, config=SMALL)
    project.succeed("build", "--quiet")
    return project


@pytest.fixture
def older(project: Project) -> Path:
    """The first release's export of the project."""
    files = {}
    with tarfile.open(OLDER) as archive:
        for member in archive:
            stream = archive.extractfile(member)
            assert stream
            files[member.name] = stream.read()
    target = project.root / "dist" / "notes"
    write_export(target, Export(files, project.index, "notes/index"), force=False)
    return target


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.slow
def test_edited_older_export_runs_the_new_code_and_keeps_the_edits(older: Path) -> None:
    near, far = older / "notes" / "app.py", older / "README.md"
    mine = "        docs_url=None,  # mine\n"
    edit(near, "        docs_url=None,\n", mine)
    edit(far, "# notes\n", "# notes, as we know them\n")
    (older / "scripts").mkdir()
    (older / "scripts" / "deploy.sh").write_text("#!/bin/sh\n")
    (older / "Dockerfile").unlink()

    said = updated(older)
    assert "notes/app.py: merged\n" in said
    assert "README.md: merged\n" in said
    assert "Dockerfile: stays deleted\n" in said
    text = near.read_text()
    assert mine in text
    assert "authorise=HOOKS.check" in text
    assert far.read_text().startswith("# notes, as we know them\n")
    assert (older / "scripts" / "deploy.sh").read_text() == "#!/bin/sh\n"
    assert not (older / "Dockerfile").exists()

    said = verified(older)
    for line in (
        "edited by its owner: README.md",
        "edited by its owner: notes/app.py",
        "added by its owner: scripts/deploy.sh",
        "deleted by its owner: Dockerfile",
    ):
        assert f"{line}\n" in said
    # tests/test_owner_edits.py runs all tests, on a current export that was edited.
    run_tests(older, "test_[as]*.py")
    run_in(older, sys.executable, "-m", "ruff", "check", "--no-cache", ".")
    check_format(older)
    # The tests of the export start servers, which compile the modules that they import.
    for compiled in older.rglob("__pycache__"):
        shutil.rmtree(compiled)
    before = snapshot(older)
    assert "kept as you edited it" in updated(older)
    assert snapshot(older) == before


@pytest.mark.slow
def test_owners_module_is_used_by_every_interface_and_not_changed(project: Project) -> None:
    older = project.export()
    custom = older / "notes" / "custom.py"
    custom.write_text(HOOKS.lstrip("\n"), encoding="utf-8")
    assert "notes/custom.py: kept as you edited it" in updated(older)
    assert custom.read_text(encoding="utf-8") == HOOKS.lstrip("\n")
    assert "edited by its owner: notes/custom.py" in verified(older)
    answer = json.loads(run_in(older, *in_checkout(older), "search", "gasket", "--json"))
    assert (answer["query"], len(answer["results"])) == ("seal", 1)
    doors = """
from starlette.testclient import TestClient
from notes import search_hybrid
from notes.app import create_app
assert search_hybrid("gasket").query == "seal"
with TestClient(create_app(), base_url="http://127.0.0.1:8000") as client:
    assert client.post("/search", json={"query": "gasket"}).json()["query"] == "seal"
    assert client.get("/hello").json() == {"hello": "owner"}
    assert "/hello" in client.get("/openapi.json").json()["paths"]
    refused = client.get("/sources", headers={"X-Team": "sales"})
    assert refused.status_code == 403, refused.text
    assert refused.headers["content-type"] == "application/problem+json"
    assert client.get("/healthz", headers={"X-Team": "sales"}).status_code == 200
    assert client.get("/hello", headers={"Host": "evil.example"}).status_code == 421
"""
    run_in(older, sys.executable, "-B", "-c", doors)


@pytest.mark.slow
def test_owners_module_is_typed_and_used_by_mcp(make_project: MakeProject) -> None:
    project = make_project(NOTE)
    project.succeed("build", "--quiet")
    exported = project.export()
    (exported / "notes" / "custom.py").write_text(HOOKS.lstrip("\n"), encoding="utf-8")
    check_types(exported)
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": "gasket"}},
    }
    hello = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    done = subprocess.run(
        [*in_checkout(exported), "mcp"],
        cwd=exported,
        input="".join(json.dumps(message) + "\n" for message in (hello, ready, call)),
        capture_output=True,
        text=True,
        check=True,
    )
    answer = next(
        message for line in done.stdout.splitlines() if (message := json.loads(line))["id"] == 1
    )
    assert len(answer["result"]["structuredContent"]["results"]) == 1


@pytest.mark.slow
def test_search_without_hooks_is_the_search_itself(project: Project) -> None:
    exported = project.export()
    same = "import notes, notes.search as s; assert notes.search_hybrid is s.search_hybrid"
    run_in(exported, sys.executable, "-B", "-c", same)


def test_conflicts_are_marked_and_listed_and_have_an_exit_code(older: Path) -> None:
    edit(older / "notes" / "app.py", "from . import __version__\n", "from . import *\n")
    result = update(older)
    assert result.exit_code == 3
    line = "conflict, marked in the file; keep the lines that you want, delete the markers"
    assert f"notes/app.py: {line}\n" in result.output
    assert "<<<<<<< yours\nfrom . import *\n" in (older / "notes" / "app.py").read_text()
    result = update(older)
    assert result.exit_code == 1
    assert "contains conflict markers" in result.stderr
    refused = CliRunner().invoke(main, ["verify", str(older)])
    assert refused.exit_code == 1
    assert "notes/app.py: contains conflict markers" in refused.stderr


def test_conflict_in_the_settings_is_a_finding_of_both_verifications(project: Project) -> None:
    exported = project.export()
    edit(exported / "notes" / "settings.json", '"port": 8000', '"port": 9000')
    file = project.root / "foundry.toml"
    file.write_text(SMALL + "port = 8123\n", encoding="utf-8")
    result = update(exported)
    assert result.exit_code == 3
    assert "updated, with problems to resolve" in result.output
    refused = CliRunner().invoke(main, ["verify", str(exported)])
    assert refused.exit_code == 1
    assert "notes/settings.json: contains conflict markers" in refused.stderr
    done = subprocess.run(
        [sys.executable, "-m", "notes", "verify"],
        cwd=exported,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "settings.json: unusable" in done.stderr
    assert "Traceback" not in done.stderr


def test_update_reports_imports_that_a_moved_module_breaks(project: Project) -> None:
    exported = project.export()
    package = exported / "notes"
    (package / "core").mkdir()
    (package / "retrieval" / "results.py").rename(package / "core" / "results.py")
    for arguments in (["--dry-run"], []):
        result = update(exported, *arguments)
        assert result.exit_code == 3
        assert "imports .results, which does not exist\n" in result.output
        assert "up to date" not in result.output
    found = json.loads(update(exported, "--json").stdout)["unresolved"]
    assert any(line.startswith("notes/search.py: line ") for line in found)
    assert any(line.startswith("notes/core/results.py: line ") for line in found)
    refused = CliRunner().invoke(main, ["verify", str(exported)])
    assert refused.exit_code == 1
    assert all(line in refused.stderr for line in found)


def test_edited_modules_that_were_removed_are_kept_and_reported(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = project.root / "foundry.toml"
    file.write_text(SMALL.replace("mcp = false", "mcp = true"), encoding="utf-8")
    exported = project.export()
    for name in ("__init__.py", "server.py"):
        (exported / "notes" / "mcp" / name).write_text("# mine\n", encoding="utf-8")
    (exported / "requirements.txt").write_text("# mine\n", encoding="utf-8")
    file.write_text(SMALL, encoding="utf-8")
    monkeypatch.setitem(decisions.WENT, "mcp/server.py", "in app.py, as answer()")
    result = update(exported)
    gone = "kept, though no longer part of the export"
    for line in (
        f"notes/mcp/server.py: {gone}; its code is now in app.py, as answer(): move your edit"
        " there",
        f"notes/mcp/__init__.py: {gone}; delete it if you do not need it",
        "requirements.txt: not merged; copy what you need from the new .new file next to it, then"
        " delete that",
    ):
        assert f"{line}\n" in result.output
    assert (exported / "notes" / "mcp" / "server.py").read_text(encoding="utf-8") == "# mine\n"


@pytest.mark.slow
def test_json_lists_every_file_and_a_dry_run_writes_nothing(older: Path) -> None:
    edit(older / "README.md", "# notes\n", "# ours\n")
    before = snapshot(older)
    answer = json.loads(updated(older, "--json", "--dry-run"))
    assert snapshot(older) == before
    assert answer["merged"] == ["README.md"]
    assert "notes/custom.py" in answer["added"]
    assert "notes/app.py" in answer["replaced"]
    assert set(answer["added"]).isdisjoint(answer["replaced"])


@pytest.mark.slow
def test_project_is_found_or_an_error_names_it(
    older: Path, project: Project, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    older.rename(elsewhere)
    result = update(elsewhere)
    assert result.exit_code == 2
    assert "--project" in result.stderr
    updated(elsewhere, "--project", str(project.root))
    verified(elsewhere)


def test_a_folder_without_an_export_is_named(project: Project, tmp_path: Path) -> None:
    for folder, said in (
        (project.root, "is a project, not an export"),
        (tmp_path / "x", "no such"),
    ):
        result = update(folder)
        assert result.exit_code == 1
        assert f"{folder}: {said}" in result.stderr


def test_export_of_another_project_is_refused(older: Path, project: Project) -> None:
    file = project.root / "foundry.toml"
    file.write_text(SMALL.replace('"notes"', '"other"'), encoding="utf-8")
    before = snapshot(older)
    result = update(older)
    assert result.exit_code == 1
    assert "has no package other" in result.stderr
    assert snapshot(older) == before


@pytest.mark.slow
def test_an_update_includes_new_configuration_and_index(older: Path, project: Project) -> None:
    edit(older / "README.md", "# notes\n", "# ours\n")
    file = project.root / "foundry.toml"
    file.write_text(SMALL + "port = 8123\n", encoding="utf-8")
    (project.root / "sources" / "new.md").write_text("# Valves\n\nA valve opens.\n")
    project.succeed("build", "--quiet")
    updated(older)
    assert json.loads((older / "notes" / "settings.json").read_bytes())["port"] == 8123
    answer = json.loads(run_in(older, *in_checkout(older), "search", "valve", "--json"))
    assert answer["results"][0]["path"] == "new.md"


def check_faults(older: Path, fault: str, step: int) -> int:
    """Fail updates at every `step`-th change, one update each; returns the number of faults.

    Afterwards, the export must be the old one or the new one.
    """
    edit(older / "README.md", "# notes\n", "# ours\n")
    (older / "scripts").mkdir()
    (older / "scripts" / "deploy.sh").write_text("#!/bin/sh\n")
    old = snapshot(older)
    kept = older.parent.parent / "kept"
    subprocess.run(["cp", "-a", older, kept], check=True)
    updated(older)
    new = snapshot(older)

    def restore() -> None:
        subprocess.run(["rm", "-rf", older, *older.parent.glob(".*.foundry-*")], check=True)
        subprocess.run(["cp", "-a", kept, older], check=True)

    config = load_config(older.parents[1])
    planned = plan_server(Design.of(config, PROVIDERS["static"]), None)

    def run() -> tuple[int, str]:
        import foundry.export.compose

        # The files are planned once: planning writes nothing, and its formatting takes longer than
        # the rest.
        foundry.export.compose.plan_server = lambda *_, **__: planned
        result = update(older)
        known = isinstance(result.exception, SystemExit | None)
        return (result.exit_code if known else 98), result.output

    restore()
    faults = 0
    for outcome in each_fault(fault, older.parent, run, step=step):
        faults += 1
        retired = older.with_name(".notes.foundry-old")
        found = snapshot(older if older.exists() else retired)
        assert found in (old, new), outcome
        if outcome.exit_code is not None:
            assert outcome.exit_code in (0, 1), outcome
            assert (outcome.exit_code == 0) <= (found == new), outcome
        if found == new:
            restore()
    assert snapshot(older) == new
    assert leftovers(older.parent) == []
    assert not compare(older)
    return faults


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS if EVERY_FAULT else FAULTS[:2])
def test_fault_at_many_changes_leaves_the_old_export_or_the_new(fault: str, older: Path) -> None:
    # Errors of a full disk occur in the same places as those of a broken one.
    step = 1 if EVERY_FAULT else 211 if fault == "SIGKILL" else 397
    assert check_faults(older, fault, step=step) >= 2


@pytest.mark.slow
def test_no_edit_of_any_module_of_an_older_export_is_lost(older: Path) -> None:
    """Whatever happened to the module: it is merged, kept, or in a marked conflict."""
    modules = [path.relative_to(older).as_posix() for path in sorted(older.rglob("*.py"))]
    marks = {}
    for number, name in enumerate(modules):
        marks[name] = f"# Edited by the owner, {number}.\n"
        with (older / name).open("a", encoding="utf-8") as file:
            file.write(f"\n\n{marks[name]}")
    result = update(older)
    lost = [name for name, mark in marks.items() if mark not in (older / name).read_text("utf-8")]
    assert lost == [], result.output
    named = [name for name in modules if f"{name}: " in result.output]
    assert named == modules, result.output
