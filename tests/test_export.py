"""An export replaces only Foundry's own files, atomically, and contains nothing private."""

import ast
import getpass
import json
import os
import re
import shutil
import socket
import stat
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import CONFIG, MakeProject, Project
from processes import foundry, leftovers, snapshot
from servers import check_with_own_tools, get, in_checkout, serving
from sharing import unformatted
from systems import without_rights

import foundry as installed
from foundry.cli.main import main
from foundry.export import decisions
from foundry.export.checksums import compare
from foundry.rendering.copying import RUNTIME

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

NOTE = {"note.md": "# Seals\n\nReplace the D40 seal yearly.\n"}
CANARY = "sk-canary-7d0c3f2e91"


@pytest.fixture
def built(make_project: MakeProject) -> Project:
    project = make_project(NOTE)
    project.succeed("build", "--quiet")
    return project


def refused(project: Project, *arguments: str | Path) -> str:
    """Return the message of an export that must be refused and change nothing."""
    before = snapshot(project.root.parent)
    result = project.run("export", *map(str, arguments))
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    assert "hint: " in result.stderr
    assert {
        name: what for name, what in snapshot(project.root.parent).items() if "lock" not in name
    } == {name: what for name, what in before.items() if "lock" not in name}
    return result.stderr


def test_export_over_an_earlier_export_replaces_it(built: Project) -> None:
    exported = built.export()
    (exported / "notes" / "__pycache__").mkdir()
    (exported / "notes" / "__pycache__" / "x.pyc").write_bytes(b"")
    (exported / "README.md").unlink()
    (built.root / "sources" / "note.md").write_text("# New\n\nNew text.\n", encoding="utf-8")
    built.succeed("build", "--quiet")
    assert built.export() == exported
    assert (exported / "README.md").exists()
    assert "New text." in (exported / "notes" / "data" / "chunks.jsonl").read_text()
    assert not compare(exported)
    assert leftovers(built.root) == []


def test_empty_folder_may_be_the_target(built: Project, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    built.export("--output", str(tmp_path / "empty"))
    assert not compare(tmp_path / "empty")


def test_foreign_folder_is_refused_as_a_target(built: Project, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("mine")
    assert "contains files that Foundry did not write" in refused(built, "--output", foreign)
    assert "did not write" in refused(built, "--output", foreign, "--force")
    assert "is not a folder" in refused(built, "--output", foreign / "thesis.txt")


def test_links_are_refused(built: Project, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert f"{tmp_path / 'link'} is a link" in refused(built, "--output", tmp_path / "link")
    assert "is a link" in refused(built, "--output", tmp_path / "link" / "below")
    assert "is a link" in refused(built, "--output", tmp_path / "dangling")


def test_link_inside_an_earlier_export_is_not_followed(built: Project, tmp_path: Path) -> None:
    exported = built.export()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "state.py").write_text("mine")
    shutil.move(exported / "notes", tmp_path / "moved")
    (exported / "notes").symlink_to(tmp_path / "outside")
    assert "notes" in refused(built)
    built.export("--force")
    assert (tmp_path / "outside" / "state.py").read_text() == "mine"


@pytest.mark.parametrize("place", ["/", "~", ".", "..", ".foundry", ".foundry/x", "sub/.."])
def test_places_that_must_not_be_replaced_are_refused(
    place: str, built: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "homes" / "me"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    target = home if place == "~" else built.root / place
    said = refused(built, "--output", target, "--force")
    assert "contains it" in said or "own state" in said
    if place == "~":
        assert "home folder" in refused(built, "--output", home.parent)


def test_user_without_a_home_can_export(built: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "")
    built.export()


def test_edited_and_added_files_stop_an_export(built: Project) -> None:
    exported = built.export()
    (exported / "notes" / "search.py").write_text("# mine\n")
    (exported / ".env").write_text("API_TOKENS=secret\n")
    said = refused(built)
    assert "2 files edited or added" in said
    assert "\n  notes/search.py" in said
    assert "\n  .env" in said


def test_force_keeps_edited_and_added_files(built: Project) -> None:
    exported = built.export()
    original = (exported / "notes" / "search.py").read_bytes()
    (exported / "notes" / "search.py").write_text("# first edit\n")
    script = exported / "scripts" / "deploy.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    (exported / "link").symlink_to("README.md")
    built.export("--force")
    assert (exported / "notes" / "search.py").read_bytes() == original
    assert (exported / "notes" / "search.py.orig").read_text() == "# first edit\n"
    assert script.read_text() == "#!/bin/sh\n"
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    assert (exported / "link").readlink() == Path("README.md")

    (exported / "notes" / "search.py").write_text("# second edit\n")
    built.export("--force")
    assert (exported / "notes" / "search.py").read_bytes() == original
    assert (exported / "notes" / "search.py.orig").read_text() == "# first edit\n"
    assert (exported / "notes" / "search.py.orig2").read_text() == "# second edit\n"


def test_force_says_where_each_edited_file_and_its_code_are(
    built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported = built.export()
    for name in ("search.py", "mcp/server.py", "mcp/__init__.py"):
        (exported / "notes" / name).write_text("# mine\n")
    (exported / "notes" / "questions.jsonl").write_text("mine\n")
    (exported / "notes.txt").write_text("mine\n")
    (built.root / "questions.jsonl").write_text('{"query": "seal", "relevant": ["note.md"]}\n')
    file = built.root / "foundry.toml"
    file.write_text(file.read_text() + "[server]\nmcp = false\n")
    monkeypatch.setitem(decisions.WENT, "mcp/server.py", "in app.py, as answer()")
    result = built.run("export", "--force")
    assert result.exit_code == 0
    assert result.stderr == (
        f"warning: {exported}: 4 files of yours not overwritten but kept:\n"
        "  notes/mcp/__init__.py: kept, no longer part of the export\n"
        "  notes/mcp/server.py: kept, no longer part of the export;"
        " its code is now in app.py, as answer()\n"
        "  notes/questions.jsonl: replaced; yours is now notes/questions.jsonl.orig\n"
        "  notes/search.py: replaced; yours is now notes/search.py.orig\n"
        "hint: move your edits to where the code is now, then delete the kept files;"
        " foundry update merges edits instead\n"
    )
    assert (exported / "notes" / "mcp" / "server.py").read_text() == "# mine\n"
    assert (exported / "notes" / "search.py.orig").read_text() == "# mine\n"


def test_added_file_whose_name_the_server_now_needs_is_kept_aside(built: Project) -> None:
    exported = built.export()
    (exported / "notes" / "questions.jsonl").write_text("mine\n")
    question = '{"query": "which seal", "relevant": ["note.md"]}\n'
    (built.root / "questions.jsonl").write_text(question)
    built.export("--force")
    assert (exported / "notes" / "questions.jsonl").read_text() == question
    assert (exported / "notes" / "questions.jsonl.orig").read_text() == "mine\n"


def test_edits_survive_an_export_that_was_killed_between_its_renames(built: Project) -> None:
    exported = built.export()
    (exported / "README.md").write_text("mine")
    exported.rename(exported.with_name(".notes.foundry-old"))
    exported.with_name(".notes.foundry-new").mkdir()
    result = built.run("export")
    assert result.exit_code == 1
    assert "README.md" in result.stderr
    assert (exported / "README.md").read_text() == "mine"
    built.export("--force")
    assert (exported / "README.md.orig").read_text() == "mine"
    assert leftovers(built.root) == []


def test_unwritable_parent_folder_is_an_error(built: Project, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    done = foundry("export", built.root, "--output", locked / "x", prefix=without_rights())
    assert done.returncode == 1, done.stderr
    assert (
        f"{locked / 'x'}: cannot be written: Permission denied; nothing was changed" in done.stderr
    )
    assert list(locked.iterdir()) == []


def test_target_below_missing_folders_is_made(built: Project, tmp_path: Path) -> None:
    built.export("--output", str(tmp_path / "a" / "b" / "c"))
    assert (tmp_path / "a" / "b" / "c" / "SHA256SUMS").exists()


def test_nothing_private_is_exported(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "API_TOKENS", "LLM_API_KEY", "HF_TOKEN"):
        monkeypatch.setenv(name, CANARY)
    project = make_project({**NOTE, "empty.txt": "", "binary.dat": b"\x7fELF\0\1"})
    (project.root / "sources" / ".env").write_text(f"KEY={CANARY}\n")
    (project.root / ".env").write_text(f"KEY={CANARY}\n")
    (project.root / "sources" / "outside.md").symlink_to("../foundry.toml")
    project.succeed("build", "--quiet")
    exported = project.export()
    private = [
        CANARY,
        str(project.root),
        str(Path(installed.__file__).parent.parent),
        str(Path.home()),
        sys.prefix,
        socket.gethostname(),
        getpass.getuser(),
    ]
    # Short names, such as "vm" or "root", also occur inside ordinary words.
    private = [text for text in private if len(text) > 5]
    for path in exported.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            for text in private:
                assert text.encode() not in content, (path, text)
            # A lock contains release dates, and tests contain times of their own.
            is_dated = re.search(rb"\b20\d\d-\d\d-\d\dT\d\d:\d\d", content)
            assert path.name == "uv.lock" or path.match("tests/*/*.py") or not is_dated, path
            assert path.name != ".env"


def imported(path: Path, module: str) -> set[str]:
    """Return the dotted names that a module may import by relative imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            parts = [*module.split(".")[: -node.level], *([node.module] if node.module else [])]
            names |= {".".join(parts), *(".".join([*parts, alias.name]) for alias in node.names)}
    return names


STAGES = {
    "adaptive_weights",
    "anchors",
    "expansion",
    "links",
    "recency",
}


@pytest.mark.parametrize(
    ("options", "absent"),
    [
        ('[search]\nfusion = "linear"\n', {"fusion_rrf"}),
        (
            '[embedding]\nprovider = "none"\n',
            {"hybrid", "fusion_rrf", "dense_lane", "encoder"},
        ),
        (
            '[embedding]\nprovider = "none"\n[search]\nunknown_identifiers = false\n',
            {"hybrid", "encoder", "identifiers"},
        ),
        (
            "[server]\npage = false\ncommand_line = false\nhooks = false\n",
            {"custom", "hooks", "page", "terminal"},
        ),
        ("[search]\nidentifier_fallback = false\n", {"fusion_rrf"} | STAGES),
        (
            '[search.recency]\nkind = "decay"\n[search.links]\n',
            STAGES - {"recency", "links"},
        ),
    ],
)
def test_only_modules_that_are_used_are_copied_unchanged(
    options: str, absent: set[str], make_project: MakeProject
) -> None:
    project = make_project(NOTE, config=CONFIG + options)
    project.succeed("build", "--quiet")
    package = project.export() / "notes"
    rendered = {"__init__", "__main__", "app", "custom", "opening", "search"}
    modules = {
        path.relative_to(package).with_suffix("").as_posix().replace("/", "."): path
        for path in package.rglob("*.py")
    }
    copied = {name: path for name, path in modules.items() if name not in rendered}
    assert not absent & {name.rpartition(".")[2] for name in modules}
    for name, path in copied.items():
        original = RUNTIME.joinpath(*name.split(".")).with_suffix(".py")
        assert path.read_bytes() == original.read_bytes(), name
    reached, waiting = set(), {"__init__", "__main__"}
    while waiting:
        name = waiting.pop()
        reached.add(name)
        found = {other for other in imported(modules[name], name) if other in modules}
        found |= {f"{other.rpartition('.')[0]}.__init__" for other in found if "." in other}
        found |= {"retrieval.__init__" for other in found if other.startswith("retrieval.")}
        waiting |= found - reached
    assert modules.keys() == reached


def test_rank_constant_is_written_only_if_used(make_project: MakeProject) -> None:
    project = make_project(NOTE, config=CONFIG + '[search]\nfusion = "rrf"\nk = 9\n')
    project.succeed("build", "--quiet")
    [best] = project.ask("seal")["results"]
    assert (best["ranks"], best["score"]) == ({"semantic": 1, "keyword": 1}, 1.0)
    export = project.export()
    assert "fuse_rrf(candidates, *lane_weights, k=9)" in (export / "notes/search.py").read_text()
    assert "weight / (9 + rank)" in (export / "README.md").read_text()


def test_export_without_vectors_has_no_weights(make_project: MakeProject) -> None:
    project = make_project(NOTE, config=CONFIG + '[embedding]\nprovider = "none"\n')
    project.succeed("build", "--quiet")
    export = project.export()
    for path in export.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert b"SEMANTIC_WEIGHT" not in content and b"KEYWORD_WEIGHT" not in content, path
    settings = json.loads((export / "notes/settings.json").read_text())
    assert not {"semantic_weight", "keyword_weight"} & set(settings)


def test_export_without_vectors_answers(make_project: MakeProject) -> None:
    config = CONFIG + '[embedding]\nprovider = "none"\n'
    project = make_project(NOTE, config=config)
    project.succeed("build", "--quiet")
    answer = project.ask("seal")
    (hit,) = answer["results"]
    assert (hit["scores"]["semantic"], hit["ranks"]["semantic"], hit["boosts"]) == (None, None, {})
    assert (answer["mode"], answer["reason"], answer["degraded"]) == ("keyword", "default", False)
    for mode in ("keyword", "semantic"):
        refused = project.run("query", "seal", "--mode", mode)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "supports only keyword search" in refused.stderr
        assert "leave --mode out, or set embedding.provider and build again" in refused.stderr
    exported = project.export()
    assert not list((exported / "notes" / "data").glob("vectors*"))
    assert not (exported / "notes" / "data" / "encoder").exists()
    result = CliRunner().invoke(main, ["verify", str(exported)])
    assert result.exit_code == 0, result.output
    with serving(in_checkout(exported)) as address:
        assert get(f"{address}/search?q=seal")["results"] == answer["results"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    # The tests of an export without options still pass after its owner has changed scores.
    [
        '[search]\nfusion = "rrf"\nidentifier_fallback = false\n[search.adaptive_weights]\n'
        "[search.anchors]\n[search.recency]\n[search.links]\n[search.expansion]\n"
        "[search.operators]\n[search.correction]\n[search.synonyms]\n[search.suggestions]\n"
        "[search.heuristics]\n[search.near_duplicates]\n"
        "[search.document_cap]\nhits = 2\n[server]\nlanguage_model = true\nopenai = true\n"
        "assistants = true\n",
        '[embedding]\nprovider = "none"\n',
    ],
)
def test_export_passes_its_own_checks(options: str, make_project: MakeProject) -> None:
    project = make_project(NOTE, config=CONFIG + options)
    question = '{"query": "which seal is replaced", "relevant": ["note.md"]}\n'
    (project.root / "questions.jsonl").write_text(question)
    project.succeed("build", "--quiet")
    exported = project.export()
    check_with_own_tools(exported)


def test_index_built_with_other_options_is_not_exported(built: Project) -> None:
    file = built.root / "foundry.toml"
    file.write_text(CONFIG.replace('"notes"', '"other"'), encoding="utf-8")
    with unformatted():
        built.export()
    without = built.root.parent / "without"
    shutil.copytree(built.root, without, ignore=shutil.ignore_patterns("dist"))
    project = Project(without)
    (without / "foundry.toml").write_text(CONFIG + '[embedding]\nprovider = "none"\n')
    project.succeed("build", "--quiet")
    (without / "foundry.toml").write_text(CONFIG)
    said = refused(project)
    assert 'embedding.provider was "none" and is now "static"' in said
    assert "has no vectors" in refused(project, "--stale")


def test_damaged_index_is_not_exported(built: Project) -> None:
    with (built.index / "postings.impacts.npy").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")
    assert "postings.impacts.npy" in refused(built)
    (built.index / "stranger.pkl").write_bytes(b"")
    assert "stranger.pkl: not in the manifest" in refused(built)


def test_export_needs_an_index(make_project: MakeProject) -> None:
    project = make_project(NOTE)
    assert "has no index yet" in refused(project)


def test_json_names_the_folder(built: Project, tmp_path: Path) -> None:
    result = built.succeed("export", "--json", "--output", str(tmp_path / "out"))
    assert json.loads(result.stdout) == {"export": str(tmp_path / "out")}
