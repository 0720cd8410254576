"""A `.foundry` folder from elsewhere: nothing in it is followed, run, served or written to."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import MakeProject, Project, write_project
from processes import snapshot
from systems import needs_root

from foundry.cli.main import main
from foundry.config.project import load_config
from foundry.indexing.versions import built_index
from foundry.rendering.design import Design
from foundry.rendering.plan import plan_key
from foundry.rendering.query_encoder import choose_query_encoder
from foundry.runtime.index.layout import IndexFiles, Manifest, manifest_bytes
from foundry.state.folder import RESTORED, settle_state

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

FILES = {"seals.md": "# Seals\n\nReplace the seal yearly."}
GIT = '[project]\nname = "notes"\n\n[[sources]]\ntype = "git"\nrepository = "{}"\n'
REFUSED = "was not written here by this installation"


@pytest.fixture(scope="module")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return write_project(tmp_path_factory.mktemp("ours") / "project", FILES, built=True)


@pytest.fixture
def built(built_once: Project, tmp_path: Path) -> Project:
    project = built_once.copy(tmp_path / "project")
    settle_state(state_of(project))
    return project


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a stranger's project, built, queried and exported."""
    root = tmp_path_factory.mktemp("stranger") / "project"
    project = write_project(root, FILES)
    with pytest.MonkeyPatch.context() as stranger:
        stranger.setenv("XDG_CACHE_HOME", str(root.with_name("cache")))
        for command, *arguments in (["build", "--quiet"], ["query", "seal"], ["export"]):
            project.succeed(command, *arguments)
    return project


@pytest.fixture
def foreign(published: Project, tmp_path: Path) -> Project:
    """Return the project as a user would download it."""
    return Project(shutil.copytree(published.root, tmp_path / "foreign"))


def state_of(project: Project) -> Path:
    return project.root / ".foundry"


def set_aside(project: Project) -> list[str]:
    return sorted(path.name for path in project.root.glob(".foundry.*"))


def plant_server(project: Project, ran: Path) -> None:
    """Put a server into the state, marked as up to date with foundry.toml."""
    config = load_config(project.root)
    manifest = Manifest.read(project.index / "manifest.json")
    key = plan_key(Design.of(config, choose_query_encoder(config, manifest)))
    server = state_of(project) / "server"
    (server / "notes").mkdir(parents=True, exist_ok=True)
    (server / "notes" / "__init__.py").write_text("")
    (server / "notes" / "__main__.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    (server / ".key").write_text(key)


def test_a_state_that_is_a_link_is_set_aside_and_its_target_kept(
    make_project: MakeProject, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    (victim / "index" / "v1.tmp").mkdir(parents=True)
    (victim / "index" / "v1.tmp" / "letter").write_text("dear")
    project = make_project(FILES)
    state_of(project).symlink_to(victim)
    before = snapshot(victim)
    result = project.succeed("build", "--quiet")
    assert ".foundry: is a link or a file, not a folder" in result.output
    assert snapshot(victim) == before
    assert set_aside(project) == [".foundry.set-aside"]
    assert state_of(project).is_dir() and not state_of(project).is_symlink()


def test_copies_of_repositories_behind_a_link_are_not_removed(
    make_project: MakeProject, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    (victim / "letters").mkdir(parents=True)
    (victim / "letters" / "letter").write_text("dear")
    project = make_project({}, config=GIT.format(tmp_path))
    state_of(project).mkdir()
    (state_of(project) / "git").symlink_to(victim)
    project.run("build", "--quiet")
    assert (victim / "letters" / "letter").read_text() == "dear"


@pytest.mark.parametrize("name", ["lock.owner", "configuration.json.tmp", "index", "lock"])
def test_nothing_is_written_through_a_link_in_a_state(
    name: str, make_project: MakeProject, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "letter").write_text("dear")
    project = make_project(FILES)
    state_of(project).mkdir()
    target = victim if name == "index" else victim / "letter"
    (state_of(project) / name).symlink_to(target)
    before = snapshot(victim)
    project.succeed("build", "--quiet")
    assert snapshot(victim) == before


@pytest.mark.parametrize("name", ["lock.owner", "configuration.json.tmp", "index", "web/x"])
def test_a_link_put_into_our_state_is_not_followed(
    name: str, built: Project, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    place = state_of(built) / name
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(victim)
    result = built.run("query", "seal")
    assert result.exit_code == 1
    assert f"contains a link or a special file, {name}" in result.output
    result = built.succeed("build", "--quiet")
    assert f"contains a link or a special file, {name}; it is now .foundry.set-aside" in (
        result.output
    )
    assert not list(victim.iterdir())


def test_a_pipe_in_a_state_does_not_block(built: Project) -> None:
    (state_of(built) / "configuration.json").unlink()
    os.mkfifo(state_of(built) / "configuration.json")
    assert (
        "contains a link or a special file, configuration.json" in built.run("query", "seal").output
    )


def test_a_server_in_a_foreign_state_is_not_run_after_a_build(
    foreign: Project, tmp_path: Path
) -> None:
    plant_server(foreign, tmp_path / "ran")
    foreign.succeed("build", "--quiet")
    assert foreign.ask("seal")["results"]
    assert not (tmp_path / "ran").exists()


def test_an_index_and_a_server_in_a_foreign_state_are_refused(
    foreign: Project, tmp_path: Path
) -> None:
    plant_server(foreign, tmp_path / "ran")
    before = snapshot(foreign.root)
    commands = "query seal|eval|inspect|verify|export|export --check|export --explain|publish"
    for command in commands.split("|"):
        result = foreign.run(*command.split())
        assert result.exit_code == 1, command
        assert f".foundry: {REFUSED}, so it is not used" in result.output
        hint = f"build the project, which sets it aside: foundry build {foreign.root}"
        assert hint in result.output
        assert snapshot(foreign.root) == before
    assert not (tmp_path / "ran").exists()


def test_an_update_refuses_an_index_in_a_foreign_state(foreign: Project) -> None:
    export = foreign.root / "dist" / "notes"
    result = CliRunner().invoke(main, ["update", str(export), "--project", str(foreign.root)])
    assert result.exit_code == 1
    assert REFUSED in result.output


def test_doctor_reports_a_foreign_state(foreign: Project) -> None:
    before = snapshot(foreign.root)
    assert REFUSED in foreign.run("doctor").output
    assert snapshot(foreign.root) == before


def test_a_foreign_index_in_our_state_is_refused_and_rebuilt(
    built: Project, make_project: MakeProject
) -> None:
    other = make_project({"evil.md": "# Evil\n\nDrink the coolant."}, name="other")
    other.succeed("build", "--quiet")
    index = state_of(built) / "index"
    shutil.copytree(other.index, index / "v7")
    shutil.copyfile(state_of(other) / "index" / "v1.code", index / "v7.code")
    (index / "CURRENT").write_text("v7\n")
    for command in (["query", "coolant"], ["inspect"], ["export"], ["verify"]):
        result = built.run(*command)
        assert result.exit_code == 1
        assert "index/v7: was not published here by this installation" in result.output
    assert "not published here" in built.run("doctor").output
    built.succeed("build", "--quiet")
    assert [hit["path"] for hit in built.ask("coolant seal")["results"]] == ["seals.md"]


def test_a_state_of_an_earlier_version_is_set_aside_and_rebuilt(built: Project) -> None:
    for path in state_of(built).glob("made-here*"):
        path.unlink()
    kept = snapshot(state_of(built))
    result = built.succeed("build", "--quiet")
    assert (
        f"{state_of(built)}: {REFUSED}; it is now .foundry.set-aside, and not used" in result.output
    )
    assert snapshot(built.root / ".foundry.set-aside") == kept
    assert built.ask("seal")["results"]
    assert ".foundry" not in built.succeed("build", "--quiet").stderr


def test_only_the_last_foreign_state_is_kept_aside(built: Project, tmp_path: Path) -> None:
    for number in range(3):
        (state_of(built) / "made-here").unlink()
        (state_of(built) / "mark").write_text(f"{number}")
        built.succeed("build", "--quiet")
        assert set_aside(built) == [".foundry.set-aside"]
        assert (built.root / ".foundry.set-aside" / "mark").read_text() == f"{number}"
    # Nothing outside is written or removed, even if a file was replaced by something else.
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "letter").write_text("dear")
    shutil.rmtree(built.root / ".foundry.set-aside")
    (built.root / ".foundry.set-aside").symlink_to(tmp_path / "victim")
    (state_of(built) / "made-here").unlink()
    built.succeed("build", "--quiet")
    assert (tmp_path / "victim" / "letter").read_text() == "dear"
    assert set_aside(built) == [".foundry.set-aside"]


def copied(built: Project, how: str, root: Path) -> Project:
    """Return the same project after a change that leaves its content the same."""
    if how == "cp":
        return Project(shutil.copytree(built.root, root, symlinks=True))
    if how == "cp -al":
        subprocess.run(["cp", "-al", str(built.root), str(root)], check=True)
        return Project(root)
    if how == "tar":
        packed = shutil.make_archive(str(root), "tar", built.root)
        shutil.rmtree(built.root)
        shutil.unpack_archive(packed, built.root, filter="fully_trusted")
    elif how == "linked":
        subprocess.run(["cp", "-al", str(built.root), str(root)], check=True)
    elif how == "chown":
        subprocess.run(["chown", "-R", "65534:65534", str(built.root)], check=True)
    else:
        subprocess.run(["chmod", "-R", how, str(built.root)], check=True)
    return built


KINDS = ["cp", "cp -al", "linked", "tar", "go-rwx", "a+rwx"]


@pytest.mark.parametrize("how", [*KINDS, pytest.param("chown", marks=needs_root)])
def test_changed_owners_modes_and_times_and_copies_keep_a_state_ours(
    how: str, built: Project, tmp_path: Path
) -> None:
    built.ask("seal")
    project = copied(built, how, tmp_path / "copy")
    for command in (["query", "seal"], ["verify"]):
        project.succeed(*command)
    result = project.succeed("build", "--quiet", "--json")
    assert ".foundry" not in result.stderr
    changes = json.loads(result.stdout)["changes"]
    assert (changes["read"], changes["reused"], changes["embedded"]) == (0, 1, 0)
    assert set_aside(project) == []
    # Afterwards, the project's own builds are used.
    (project.root / "sources" / "seals.md").write_text("# Seals\n\nReplace the ring daily.")
    project.succeed("build", "--quiet")
    assert "ring" in project.ask("seal")["results"][0]["text"]
    if project.root != built.root:
        assert "yearly" in built.ask("seal")["results"][0]["text"]
        assert built.succeed("build", "--quiet").exit_code == 0


def forge(state: Path, kind: str) -> None:
    """Change a copy's files as someone could who knows everything but the secret."""
    index = state / "index" / "v1"
    if kind == "chunks":
        # The file is too large to be hashed when an index is opened, and keeps its size.
        path = index / "chunks.jsonl"
        path.write_bytes(path.read_bytes().replace(b"yearly", b"hourly"))
    elif kind == "manifest":
        values = json.loads((index / "manifest.json").read_bytes())
        (index / "manifest.json").write_bytes(manifest_bytes({**values, "language": "german"}))
    elif kind == "version":
        shutil.copytree(index, state / "index" / "v5")
        shutil.copyfile(state / "index" / "v1.code", state / "index" / "v5.code")
        shutil.copyfile(state / "index" / "v1.seen", state / "index" / "v5.seen")
        (state / "index" / "CURRENT").write_text("v5\n")


@pytest.mark.parametrize("kind", ["chunks", "manifest", "version"])
def test_changed_files_in_a_copy_are_not_used(kind: str, built: Project, tmp_path: Path) -> None:
    copy = copied(built, "cp", tmp_path / "copy")
    forge(state_of(copy), kind)
    for command in (["query", "seal"], ["inspect"], ["export"]):
        assert copy.run(*command).exit_code == 1
    copy.succeed("build", "--quiet")
    assert "yearly" in copy.ask("seal")["results"][0]["text"]


@pytest.mark.parametrize("how", ["in its place", "of another file"])
def test_prepared_documents_without_our_signature_are_ignored(
    how: str, built: Project, tmp_path: Path
) -> None:
    copy = copied(built, "cp", tmp_path / "copy")
    with closing(sqlite3.connect(state_of(copy) / "documents.sqlite")) as cache:
        for key, checksum, value in cache.execute("SELECT * FROM entries").fetchall():
            planted = value[:-1] + bytes([value[-1] ^ 1])
            forged = hashlib.blake2b(b"%d " % len(key) + key + planted, digest_size=16).digest()
            code = checksum[16:] if how == "in its place" else forged
            cache.execute(
                "UPDATE entries SET checksum = ?, value = ? WHERE key = ?",
                (forged + code, planted, key),
            )
        cache.commit()
    shutil.rmtree(state_of(copy) / "index")
    changes = copy.build()["changes"]
    assert changes["read"] == 1
    assert "yearly" in copy.ask("seal")["results"][0]["text"]


def test_a_cache_file_with_a_view_is_not_used(built: Project, tmp_path: Path) -> None:
    copy = copied(built, "cp", tmp_path / "copy")
    with closing(sqlite3.connect(state_of(copy) / "documents.sqlite")) as cache:
        cache.executescript(
            "ALTER TABLE entries RENAME TO others;"
            "CREATE VIEW entries AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n)"
            " SELECT x'' AS key, x'' AS checksum, x'' AS value FROM n;"
        )
    changes = copy.build()["changes"]
    assert changes["read"] == 1


def test_copies_of_repositories_and_handovers_are_used_only_where_written(
    built: Project, tmp_path: Path
) -> None:
    for name in ("git", "handover"):
        (state_of(built) / name / "planted").mkdir(parents=True)
    settle_state(state_of(built))
    assert (state_of(built) / "git" / "planted").is_dir()
    copy = copied(built, "cp", tmp_path / "copy")
    copy.succeed("build", "--quiet")
    assert not list(state_of(copy).glob("*/planted"))


def test_copied_files_are_hashed_once(
    built: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built.succeed("build", "--quiet")
    copy = copied(built, "cp", tmp_path / "copy")
    config, hashed = load_config(copy.root), []
    verify = IndexFiles.verify
    monkeypatch.setattr(
        IndexFiles, "verify", lambda files: hashed.append(files.layout.root) or verify(files)
    )
    for _ in range(3):
        built_index(config)
    assert hashed == [copy.index]
    built_index(load_config(built.root))
    assert hashed == [copy.index]


def test_a_renamed_project_keeps_its_state(built: Project) -> None:
    moved = Project(built.root.rename(built.root.with_name("moved")))
    assert moved.ask("seal")["results"]
    assert "(unchanged)" in moved.succeed("build", "--quiet").output
    assert set_aside(moved) == []


def test_a_state_of_another_installation_is_foreign(
    built: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert REFUSED in built.run("inspect").output


@needs_root
def test_an_empty_state_of_another_user_is_foreign(make_project: MakeProject) -> None:
    project = make_project(FILES)
    state_of(project).mkdir()
    os.chown(state_of(project), 65534, 65534)
    assert "belongs to another user" in project.run("inspect").output


def test_an_empty_state_folder_is_used(make_project: MakeProject) -> None:
    project = make_project(FILES)
    state_of(project).mkdir()
    project.succeed("build", "--quiet")
    assert set_aside(project) == []


def test_a_build_continues_if_stopped_before_the_state_was_signed(
    make_project: MakeProject,
) -> None:
    project = make_project(FILES)
    state_of(project).mkdir()
    (state_of(project) / "made-here").touch()
    assert "has no index yet" in project.run("inspect").output
    project.succeed("build", "--quiet")
    assert set_aside(project) == []


def test_restored_data_are_taken_over_if_the_user_vouches(
    foreign: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RESTORED, "1")
    result = foreign.succeed("build", "--quiet", "--json")
    assert "it is now .foundry.set-aside, and taken over: documents.sqlite" in result.stderr
    assert json.loads(result.stdout)["changes"] | {"seconds": 0, "web": {}} == {
        "read": 0,
        "reused": 1,
        "removed": 0,
        "embedded": 0,
        "outdated": 0,
        "seconds": 0,
        "web": {},
    }


def test_restored_pages_are_taken_over(foreign: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (state_of(foreign) / "web").mkdir()
    shutil.copyfile(state_of(foreign) / "documents.sqlite", state_of(foreign) / "web/pages.sqlite")
    monkeypatch.setenv(RESTORED, "1")
    result = foreign.succeed("build", "--quiet")
    assert "and taken over: documents.sqlite, web/pages.sqlite\n" in result.stderr
    assert (state_of(foreign) / "web/pages.sqlite").is_file()


@pytest.mark.parametrize(
    ("value", "holds", "hint"),
    [
        (
            "0",
            True,
            "rename it to .foundry and build once with",
        ),
        ("1", True, "delete .foundry.set-aside: nothing else in it is useful"),
        (
            "1",
            False,
            "delete .foundry.set-aside: it contains no prepared documents, vectors or pages",
        ),
    ],
)
def test_the_hint_names_the_steps_that_remain(
    value: str, holds: bool, hint: str, foreign: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not holds:
        (state_of(foreign) / "documents.sqlite").unlink()
    monkeypatch.setenv(RESTORED, value)
    said = foreign.succeed("build", "--quiet").stderr
    assert hint in said
    assert (RESTORED in said) == (value == "0")
    # The state is ours now, with or without the variable.
    assert ".foundry" not in foreign.succeed("build", "--quiet").stderr


def test_every_ci_job_that_restores_a_cache_takes_it_over(
    foreign: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RESTORED, "1")
    for number in range(3):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"runner{number}"))
        done = foreign.succeed("build", "--quiet", "--json")
        changes = json.loads(done.stdout)["changes"]
        assert (changes["read"], changes["reused"], changes["embedded"]) == (0, 1, 0)
        assert set_aside(foreign) == [".foundry.set-aside"]


@pytest.mark.parametrize("value", ["", "0"])
def test_nothing_is_taken_over_unless_the_user_vouches(
    value: str, foreign: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RESTORED, value)
    result = foreign.succeed("build", "--quiet", "--json")
    assert json.loads(result.stdout)["changes"]["read"] == 1


def test_no_server_and_no_index_is_taken_over(
    foreign: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant_server(foreign, tmp_path / "ran")
    (state_of(foreign) / "git").mkdir()
    monkeypatch.setenv(RESTORED, "1")
    foreign.succeed("build", "--quiet")
    assert not (state_of(foreign) / "git").exists()
    assert not (state_of(foreign) / "server").exists()
    foreign.ask("seal")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("kind", ["link", "hard link", "folder that is a link"])
def test_no_link_is_taken_over(
    kind: str, foreign: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "pages.sqlite").write_text("dear")
    if kind == "folder that is a link":
        (state_of(foreign) / "web").symlink_to(victim)
    else:
        place = state_of(foreign) / "cache.sqlite"
        (place.symlink_to if kind == "link" else place.hardlink_to)(victim / "pages.sqlite")
    monkeypatch.setenv(RESTORED, "1")
    result = foreign.succeed("build", "--quiet")
    assert "and taken over: documents.sqlite\n" in result.stderr
    assert {path.name for path in state_of(foreign).rglob("*.sqlite")} == {"documents.sqlite"}


def test_damage_in_restored_data_is_noticed(
    foreign: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(state_of(foreign) / "documents.sqlite")) as cache:
        changed = cache.execute(
            "UPDATE entries SET value = substr(value, 1, length(value) - 1) || x'00'"
            " WHERE substr(key, 1, 6) = x'726573756c74'"
        )
        assert changed.rowcount == 1
        cache.commit()
    monkeypatch.setenv(RESTORED, "1")
    foreign.succeed("build", "--quiet")
    assert "yearly" in foreign.ask("seal")["results"][0]["text"]


def git(folder: Path, *arguments: str) -> None:
    author = [part for key in ("name", "email") for part in ("-c", f"user.{key}=a")]
    command = ["git", "-C", str(folder), *author, *arguments]
    subprocess.run(command, capture_output=True, check=True)


@pytest.fixture
def pulled(built: Project, tmp_path: Path) -> Project:
    """Our project after pulling a cache of prepared documents that its author committed."""
    author = Project(tmp_path / "author")
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(author.root))
    shutil.copytree(built.root / "sources", author.root / "sources")
    shutil.copyfile(built.root / "foundry.toml", author.root / "foundry.toml")
    (author.root / ".gitignore").write_text(".foundry*\n")
    git(author.root, "add", "--all")
    git(author.root, "commit", "--quiet", "--message=notes")
    git(built.root, "init", "--quiet", "--initial-branch=main")
    git(built.root, "remote", "add", "origin", str(author.root))
    git(built.root, "fetch", "--quiet", "origin")
    git(built.root, "reset", "--quiet", "--hard", "origin/main")
    author.succeed("build", "--quiet")
    git(author.root, "add", "--force", ".foundry/documents.sqlite")
    git(author.root, "commit", "--quiet", "--message=documents")
    assert built.ask("seal")["results"]
    git(built.root, "pull", "--quiet", "--ff-only", "origin", "main")
    planted = (author.root / ".foundry/documents.sqlite").read_bytes()
    assert (state_of(built) / "documents.sqlite").read_bytes() == planted
    return built


TRACKED = "contains files that git tracks"


def test_files_that_a_pull_put_into_our_state_are_not_used(pulled: Project) -> None:
    for command in (["query", "seal"], ["inspect"], ["export"]):
        result = pulled.run(*command)
        assert result.exit_code == 1
        assert f".foundry: {TRACKED}, so it is not used" in result.output
    result = pulled.succeed("build", "--quiet", "--json")
    assert f"{TRACKED}; it is now .foundry.set-aside, and not used" in result.stderr
    assert json.loads(result.stdout)["changes"]["read"] == 1
    assert pulled.ask("seal")["results"]
    assert ".foundry" not in pulled.succeed("build", "--quiet").stderr


def test_files_that_a_pull_put_there_are_noticed_within_a_git_hook(
    pulled: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index of a commit"))
    assert TRACKED in pulled.run("query", "seal").output


def test_a_folder_that_only_seems_to_be_a_repository_does_no_harm(built: Project) -> None:
    (built.root / ".git").mkdir()
    assert built.ask("seal")["results"]
    assert ".foundry" not in built.succeed("build", "--quiet").stderr


def test_without_git_a_state_in_a_repository_is_used(
    built: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (built.root / ".git").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert built.ask("seal")["results"]


def test_tracked_state_files_of_an_enclosing_repository_are_noticed(pulled: Project) -> None:
    inner = Project(pulled.root / "inner")
    shutil.copytree(pulled.root / "sources", inner.root / "sources")
    shutil.copyfile(pulled.root / "foundry.toml", inner.root / "foundry.toml")
    inner.succeed("build", "--quiet")
    assert inner.ask("seal")["results"]
    git(pulled.root, "add", "--force", "inner/.foundry/documents.sqlite")
    assert TRACKED in inner.run("query", "seal").output


def test_no_program_named_by_an_enclosing_repository_is_run(
    pulled: Project, tmp_path: Path
) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    program.chmod(0o755)
    git(pulled.root, "config", "core.fsmonitor", str(program))
    pulled.succeed("build", "--quiet")
    assert pulled.ask("seal")["results"]
    assert not (tmp_path / "ran").exists()
