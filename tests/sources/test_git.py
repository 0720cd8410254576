"""Git repositories: which files are read, and that nothing in them is run or followed."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conftest import MakeProject
from pydantic import ValidationError

from foundry.cli.main import main
from foundry.config.git_sources import GitSource
from foundry.config.project import load_config
from foundry.config.sources import find_problems, resolve
from foundry.documents import RawDocument, Skipped
from foundry.errors import SourceError
from foundry.fetching.addresses import Policy
from foundry.progress import Lines, Reporter
from foundry.sources import fetch_all

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

AUTHOR = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


class Repository:
    """A repository with a working tree, for tests to commit to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "uploadpack.allowFilter", "true")

    def git(self, *arguments: str, day: int = 1, stdin: bytes = b"") -> str:
        date = f"2024-01-{day:02}T12:00:00Z"
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env={**os.environ, **AUTHOR, **dates},
            input=stdin,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    def commit(self, files: dict[str, str | bytes], day: int = 1) -> str:
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--message=change", day=day)
        return self.git("rev-parse", "HEAD")

    def commit_tree(self, entries: Sequence[bytes]) -> None:
        """Commit a tree that git itself would never write."""
        raw = b"".join(entries)
        tree = self.git(*("hash-object", "-t", "tree", "-w", "--literally", "--stdin"), stdin=raw)
        self.git("update-ref", "refs/heads/main", self.git("commit-tree", tree, "-m", "x"))

    def entry(self, name: bytes, content: bytes, mode: bytes = b"100644") -> bytes:
        blob = self.git("hash-object", "-w", "--stdin", stdin=content)
        return mode + b" " + name + b"\0" + bytes.fromhex(blob)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "handbook")


class Reading:
    """The documents of a source, and the counts of fetching it."""

    def __init__(self, state: Path, values: dict[str, Any]) -> None:
        source = GitSource(name="docs", **values)
        _, fetched = fetch_all([source], state, Reporter(quiet=True).step, Policy())
        found = list(fetched.sources["docs"])
        self.documents = {item.key: item for item in found if isinstance(item, RawDocument)}
        self.skipped = {item.path: item.reason for item in found if isinstance(item, Skipped)}
        self.traffic = fetched.traffic["docs"]

    @property
    def texts(self) -> dict[str, bytes]:
        return {key: document.content for key, document in self.documents.items()}


def read(repository: Repository, tmp_path: Path, **values: Any) -> Reading:
    return Reading(tmp_path / "state", {"repository": str(repository.folder), **values})


def objects_missing(tmp_path: Path) -> int:
    (copy,) = (tmp_path / "state/git").iterdir()
    listed = subprocess.run(
        ["git", "--git-dir", copy, "rev-list", "--objects", "--missing=print", "--all"],
        capture_output=True,
        check=True,
    )
    return listed.stdout.count(b"?")


def test_files_have_the_url_and_the_date_of_the_commit_that_changed_them_last(
    repository: Repository, tmp_path: Path
) -> None:
    first = repository.commit({"guide/a b.md": "one", "b.md": "b"}, day=3)
    second = repository.commit({"b.md": "b2"}, day=9)
    found = read(repository, tmp_path, base_url="https://x.org/blob/{commit}/", tags=("t",))
    assert found.texts == {"b.md": b"b2", "guide/a b.md": b"one"}
    assert list(found.documents) == ["b.md", "guide/a b.md"]
    document = found.documents["guide/a b.md"]
    assert document.url == f"https://x.org/blob/{first}/guide/a%20b.md"
    assert (document.modified_elsewhere, document.tags) == ("2024-01-03", ("t",))
    assert found.documents["b.md"].url == f"https://x.org/blob/{second}/b.md"
    assert found.documents["b.md"].modified_elsewhere == "2024-01-09"


def test_urls_are_those_of_published_pages(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"guide/index.md": "one", "b.mdx": "b"})
    found = read(repository, tmp_path, base_url="https://x.org", url_suffix="/")
    urls = [document.url for document in found.documents.values()]
    assert urls == ["https://x.org/b/", "https://x.org/guide/"]


def test_paths_patterns_and_urls_begin_in_the_folder(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit({"docs/a.md": "# A", "docs/old/b.md": "# B", "docs.md": "# C"}, day=2)
    published = {"base_url": "https://docs.example.com/", "url_suffix": "/"}
    found = read(repository, tmp_path, folder="/docs/", exclude=("/old/",), **published)
    assert [*found.documents] == ["a.md"]
    document = found.documents["a.md"]
    assert document.url == "https://docs.example.com/a/"
    assert document.modified_elsewhere == "2024-01-02"
    with pytest.raises(SourceError, match="has no folder guides"):
        read(repository, tmp_path, folder="guides")
    for written in ("..", "docs/../x", "a//b", "./docs"):
        with pytest.raises(ValidationError, match="not a folder of the repository"):
            GitSource(name="docs", repository="x", folder=written)


def test_a_merge_dates_only_the_files_that_it_brought(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit({"a.md": "a"}, day=1)
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit({"b.md": "b"}, day=2)
    repository.git("checkout", "--quiet", "main")
    repository.commit({"c.md": "c"}, day=3)
    repository.git("merge", "--quiet", "--no-ff", "--message=merge", "side", day=7)
    dates = {
        key: document.modified_elsewhere
        for key, document in read(repository, tmp_path).documents.items()
    }
    assert dates == {"a.md": "2024-01-01", "b.md": "2024-01-07", "c.md": "2024-01-03"}


def test_without_history_only_one_commit_is_fetched(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.md": "a"})
    last = repository.commit({"b.md": "b"}, day=2)
    found = read(repository, tmp_path, history=False, base_url="https://x.org/{commit}")
    assert found.documents["a.md"].url == f"https://x.org/{last}/a.md"
    assert found.documents["a.md"].modified_elsewhere is None
    (copy,) = (tmp_path / "state/git").iterdir()
    assert (copy / "shallow").exists()


def test_patterns_hidden_names_and_secrets_are_treated_as_in_folders(
    repository: Repository, tmp_path: Path
) -> None:
    names = ["docs/a.md", "docs/b.txt", "docs/old/c.md", ".github/d.md", "docs/.env", "e.md"]
    names += ["docs/secrets.md", "docs/secrets.yaml", "docs/prod.tfvars", "docs/.kube/config"]
    repository.commit(dict.fromkeys(names, "text"))
    patterns = ("docs/**", ".kube", "/docs/prod.tfvars")
    found = read(repository, tmp_path, include=patterns, exclude=("*.txt", "docs/old/"))
    assert list(found.documents) == ["docs/a.md", "docs/prod.tfvars", "docs/secrets.md"]
    secrets = ("docs/.env", "docs/.kube/config", "docs/secrets.yaml")
    assert found.skipped == dict.fromkeys(secrets, "looks like a secret")


def test_only_files_that_are_read_are_fetched_and_only_once(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit({"docs/a.md": "a", "docs/b.md": "b", "video.bin": b"\0" * 5_000})
    values = {"include": ("docs/**",)}
    assert read(repository, tmp_path, **values).traffic == {"fetched": 2, "unchanged": 0}
    assert objects_missing(tmp_path) == 1
    repository.commit({"docs/a.md": "a2"})
    found = read(repository, tmp_path, **values)
    assert found.traffic == {"fetched": 1, "unchanged": 1}
    assert found.texts == {"docs/a.md": b"a2", "docs/b.md": b"b"}


def test_a_server_without_partial_clones_can_be_read(
    repository: Repository, tmp_path: Path
) -> None:
    repository.git("config", "uploadpack.allowFilter", "false")
    repository.commit({"a.md": "a", "b.bin": "b"})
    found = read(repository, tmp_path, include=("*.md",))
    assert (found.texts, found.traffic) == ({"a.md": b"a"}, {"fetched": 0, "unchanged": 1})


@pytest.mark.parametrize("kind", ["branch", "tag", "commit"])
def test_a_branch_tag_or_commit_can_be_chosen(
    repository: Repository, tmp_path: Path, kind: str
) -> None:
    first = repository.commit({"a.md": "old"})
    repository.git("branch", "branch")
    repository.git("tag", "-a", "tag", "-m", "annotated")
    repository.commit({"a.md": "new"})
    ref = first if kind == "commit" else kind
    assert read(repository, tmp_path, ref=ref).texts == {"a.md": b"old"}
    assert read(repository, tmp_path).texts == {"a.md": b"new"}


def test_a_branch_that_was_rewritten_is_followed(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.md": "a"})
    repository.commit({"a.md": "regretted"})
    read(repository, tmp_path)
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    assert read(repository, tmp_path).texts == {"a.md": b"a"}


def test_versions_are_separate_documents(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.md": "one"})
    repository.git("tag", "v1")
    repository.commit({"a.md": "two"})
    repository.git("tag", "v2")
    found = read(repository, tmp_path, versions=("v2", "v1"), base_url="https://x.org/tree")
    assert found.texts == {"v2/a.md": b"two", "v1/a.md": b"one"}
    assert {key: dict(one.metadata) for key, one in found.documents.items()} == {
        "v2/a.md": {"version": "v2"},
        "v1/a.md": {"version": "v1"},
    }
    assert found.documents["v1/a.md"].url == "https://x.org/tree/a.md"


def test_links_submodules_and_files_without_content_are_listed(
    repository: Repository, tmp_path: Path
) -> None:
    (repository.folder / "link.md").symlink_to("/etc/passwd")
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"
    repository.commit({"empty.md": "", "large.md": "x" * 101, "film.md": pointer, "a.md": "a"})
    head = repository.git("rev-parse", "HEAD")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{head},module")
    repository.git("commit", "--quiet", "--message=module")
    found = read(repository, tmp_path, max_bytes=100)
    assert list(found.documents) == ["a.md"]
    assert found.skipped == {
        "empty.md": "empty file",
        "film.md": "not in the repository",
        "large.md": "over the size limit",
        "link.md": "symbolic link",
        "module": "submodule",
    }


def test_no_program_of_a_repository_is_run(repository: Repository, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    command = f"touch {witness}; cat"
    for name in ("post-checkout", "post-merge", "reference-transaction", "post-update"):
        hook = repository.folder / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n{command}\n")
        hook.chmod(0o755)
    repository.commit({".gitattributes": "* filter=evil diff=evil", "a.md": "a"})
    (repository.folder / ".git/hooks").rename(repository.folder / ".git/hooks-then")
    witness.unlink(missing_ok=True)
    (repository.folder / ".git/hooks-then").rename(repository.folder / ".git/hooks")
    for key in ("filter.evil.smudge", "filter.evil.clean", "diff.evil.textconv"):
        repository.git("config", key, command)
    for key in ("core.fsmonitor", "core.sshCommand", "gpg.program", "uploadpack.packObjectsHook"):
        repository.git("config", key, command)
    witness.unlink(missing_ok=True)
    assert read(repository, tmp_path).texts == {"a.md": b"a"}
    assert not witness.exists()


def test_names_that_point_outside_are_only_names(repository: Repository, tmp_path: Path) -> None:
    entry = repository.entry
    inner = repository.git(
        *("hash-object", "-t", "tree", "-w", "--literally", "--stdin"),
        stdin=entry(b"outside.md", b"up"),
    )
    repository.commit_tree(
        [
            b"40000 ..\0" + bytes.fromhex(inner),
            entry(b"/etc.md", b"absolute"),
            entry(b"a\nb\x1b[31m.md", b"controls"),
            entry(b"caf\xe9.md", b"latin"),
            entry(b"same.md", b"first"),
            entry(b"same.md", b"second"),
        ]
    )
    found = read(repository, tmp_path)
    paths = {document.path for document in found.documents.values()}
    assert "a\\x0ab\\x1b[31m.md" in paths
    assert "caf\ufffd.md" in paths
    assert not [path for path in tmp_path.rglob("*.md") if "handbook" not in path.parts]


def test_variables_of_a_git_hook_do_not_affect_other_repositories(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"a.md": "a"})
    other = Repository(tmp_path / "other")
    other.commit({"b.md": "b"})
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other.folder / ".git/objects"))
    before = set(other.folder.rglob("*"))
    found = Reading(tmp_path / "state", {"repository": str(repository.folder)})
    assert found.texts == {"a.md": b"a"}
    assert set(other.folder.rglob("*")) == before


def test_copies_that_no_source_uses_are_removed(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.md": "a"})
    read(repository, tmp_path, history=False)
    (before,) = (tmp_path / "state/git").iterdir()
    read(repository, tmp_path)
    (after,) = (tmp_path / "state/git").iterdir()
    assert before != after


def test_a_ref_that_is_not_there_is_named(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.md": "a"})
    with pytest.raises(SourceError, match=r"source docs: cannot read v9 of .*handbook") as info:
        read(repository, tmp_path, ref="v9")
    assert info.value.hint is not None
    assert "git ls-remote" in info.value.hint


def test_a_missing_git_is_named(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"a.md": "a"})
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError, match=r"source docs: .*: git is not installed"):
        read(repository, tmp_path)


@pytest.mark.parametrize(
    "written",
    [
        "ext::sh -c touch% witness",
        "--upload-pack=touch witness",
        "https://user:secret@example.org/x.git",
        "https://user@example.org/x.git",
        "file:///etc",
        "ftp://example.org/x.git",
        "ssh://user:secret@example.org/x",
        "fd::7",
    ],
)
def test_other_protocols_and_passwords_are_refused(written: str, tmp_path: Path) -> None:
    (problem,) = find_problems([GitSource(repository=written)], tmp_path)
    assert problem.startswith("sources[0].repository: write a path, an https or ssh url")
    assert "secret" not in problem


@pytest.mark.parametrize(
    "written", ["https://example.org/a/b.git", "ssh://git@example.org:22/a", "git@example.org:a/b"]
)
def test_urls_are_kept_as_written_and_name_the_source(written: str, tmp_path: Path) -> None:
    source = GitSource(repository=written)
    assert find_problems([source], tmp_path) == []
    (resolved,) = resolve([source], tmp_path, "project")
    assert isinstance(resolved, GitSource)
    assert (resolved.repository, resolved.name) == (written, source.stem)


@pytest.mark.parametrize("ref", ["-v", "a..b", "a b", "x:y", "+x", "", "a@{1}", "a.lock", "^x"])
def test_a_ref_that_git_would_take_for_an_option_or_expression_is_refused(
    ref: str, tmp_path: Path
) -> None:
    with pytest.raises(ValidationError, match="is not the name of a branch, tag or commit"):
        GitSource(repository="git@h.org:a", ref=ref)
    both = GitSource(repository=".", ref="main", versions=("v1", "v1"))
    assert len(find_problems([both], tmp_path)) == 2


def test_a_project_is_built_searched_by_version_and_built_again(
    repository: Repository, make_project: MakeProject
) -> None:
    repository.commit({"a.md": "# Seals\n\nReplace the seal yearly.", "b.md": "# B\n\nPumps."})
    repository.git("tag", "v1")
    repository.commit({"a.md": "# Seals\n\nReplace the seal monthly."}, day=2)
    repository.git("tag", "v2")
    config = (
        '[project]\nname = "notes"\n\n[[sources]]\ntype = "git"\nversions = ["v2", "v1"]\n'
        f'repository = "{repository.folder}"\nbase_url = "https://x.org/blob/{{commit}}"\n'
    )
    project = make_project({}, config=config)
    project.succeed("build", "--quiet")
    (hit,) = project.ask("seal", "--filter", "version=v1", "--top-k", "1")["results"]
    assert hit["path"] == "v1/a.md"
    assert "yearly" in hit["text"]
    assert hit["modified"] == "2024-01-01"
    repository.commit({"README.md": "# Not read"}, day=3)
    assert project.build()["unchanged"]
    repository.git("tag", "-f", "v2")
    answer = project.build()
    assert (answer["changes"]["read"], answer["changes"]["web"]) == (
        1,
        {"handbook": {"fetched": 1, "unchanged": 3}},
    )


def test_a_missing_repository_leaves_the_index(
    repository: Repository, make_project: MakeProject
) -> None:
    repository.commit({"a.md": "# Seals"})
    config = '[project]\nname = "notes"\n\n[[sources]]\ntype = "git"\nrepository = "{}"\n'
    project = make_project({}, config=config.format(repository.folder))
    project.succeed("build", "--quiet")
    repository.git("branch", "--move", "main", "trunk")
    repository.git("symbolic-ref", "HEAD", "refs/heads/gone")
    result = project.run("build", "--quiet")
    assert result.exit_code == 1
    assert "source handbook: cannot read HEAD" in result.stderr
    assert project.ask("seals")["results"]


def test_progress_counts_fetched_files_among_all_documents(
    repository: Repository, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"a.md": "# Seals", "b.md": "# Pumps"})
    config = (
        '[project]\nname = "notes"\n\n[[sources]]\ntype = "folder"\npath = "docs"\n\n'
        f'[[sources]]\ntype = "git"\nrepository = "{repository.folder}"\n'
    )
    project = make_project({"docs/c.md": "# Valves"}, config=config)
    monkeypatch.setattr(Lines, "interval_seconds", 0)
    assert "Reading: 1 of 3 documents" in project.succeed("build").stderr


def test_init_takes_the_url_of_a_repository(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        main, ["init", str(tmp_path / "p"), "--source", "https://example.org/a/handbook.git"]
    )
    assert result.exit_code == 0, result.output
    assert "a git repository, which is not contacted before the first build" in result.output
    (source,) = load_config(tmp_path / "p").sources
    assert isinstance(source, GitSource)
    assert source.name == "handbook"


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("https://github.com/a/handbook", "git"),
        ("https://gitlab.com/a/handbook/", "git"),
        ("https://github.com/a", "site"),
        ("https://github.com/a/handbook/wiki", "site"),
        ("https://example.com/a/handbook", "site"),
    ],
)
def test_the_page_of_a_repository_on_a_forge_is_a_repository(
    written: str, kind: str, tmp_path: Path
) -> None:
    done = CliRunner().invoke(main, ["init", str(tmp_path / "p"), "--source", written])
    assert done.exit_code == 0, done.output
    (source,) = load_config(tmp_path / "p").sources
    assert source.type == kind
    if isinstance(source, GitSource):
        assert (source.repository, source.name) == (written.rstrip("/"), "handbook")


COMMAND_KEYS = {
    "core.sshCommand": "ssh://git@127.0.0.1:1/x",
    "remote.origin.uploadpack": None,
}
"""Keys of git that name programs, with a url for which git runs them; None for a folder."""


@pytest.mark.parametrize("key", COMMAND_KEYS)
@pytest.mark.parametrize("place", ["config", "include", "config.worktree", "commondir"])
def test_no_program_named_in_the_local_copy_is_run(
    key: str, place: str, repository: Repository, make_project: MakeProject, tmp_path: Path
) -> None:
    repository.commit({"a.md": "# Seals"})
    url = COMMAND_KEYS[key] or str(repository.folder)
    config = f'[project]\nname = "notes"\n\n[[sources]]\ntype = "git"\nrepository = "{url}"\n'
    project = make_project({}, config=config)
    project.run("build", "--quiet")
    (copy,) = (project.root / ".foundry" / "git").iterdir()
    ran, planted = tmp_path / "ran", copy / "config"
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\ntouch "{ran}"\nexec git upload-pack "$2"\n')
    program.chmod(0o755)
    (copy / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')
    if place == "include":
        planted = copy / "included"
        (copy / "config").write_text(f"[include]\n\tpath = {planted}\n")
    elif place == "config.worktree":
        planted = copy / "config.worktree"
        (copy / "config").write_text("[extensions]\n\tworktreeConfig = true\n")
    elif place == "commondir":
        shutil.copytree(copy, tmp_path / "common")
        (copy / "commondir").write_text(str(tmp_path / "common"))
        planted = tmp_path / "common" / "config"
    section, _, name = key.rpartition(".")
    section = section.replace(".origin", ' "origin"')
    with planted.open("a") as file:
        file.write(f"[{section}]\n\t{name} = {program}\n")
    project.run("build", "--quiet")
    assert not ran.exists()


def test_objects_of_another_repository_are_not_read(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.md": "# Seals"})
    read(repository, tmp_path)
    (copy,) = (tmp_path / "state/git").iterdir()
    (copy / "objects/info").mkdir(exist_ok=True)
    for name in ("alternates", "http-alternates"):
        (copy / "objects/info" / name).write_text(str(repository.folder / ".git/objects"))
    (copy / "hooks").mkdir()
    found = read(repository, tmp_path)
    assert found.texts == {"a.md": b"# Seals"}
    assert not (copy / "hooks").exists()
    assert not list((copy / "objects/info").glob("*alternates"))


def test_no_program_named_for_missing_objects_is_run(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit({"a.md": "# Seals"})
    ran = tmp_path / "ran"
    blob = repository.git("rev-parse", "HEAD:a.md")
    (repository.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "evil",
        "remote.evil.url": str(repository.folder),
        "remote.evil.promisor": "true",
        "remote.evil.uploadpack": f"touch {ran}; false",
    }.items():
        repository.git("config", key, value)
    with pytest.raises(SourceError, match="source docs: cannot read HEAD"):
        read(repository, tmp_path)
    assert not ran.exists()


def test_the_users_own_configuration_is_used(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"a.md": "# Seals"})
    config = tmp_path / "gitconfig"
    config.write_text(f'[url "{repository.folder}"]\n\tinsteadOf = /elsewhere\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    assert Reading(tmp_path / "state", {"repository": "/elsewhere"}).texts == {"a.md": b"# Seals"}


@pytest.mark.parametrize("place", ["GIT_SSH_COMMAND", "GIT_SSH", "core.sshCommand"])
def test_the_users_own_ssh_program_is_used(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, told = tmp_path / "my ssh", tmp_path / "told"
    program.write_text(f'#!/bin/sh\necho "$@" >> "{told}"\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    if place == "core.sshCommand":
        config = tmp_path / "gitconfig"
        config.write_text(f"[core]\n\tsshCommand = \"'{program}' -i mine\"\n")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    elif place == "GIT_SSH":
        monkeypatch.setenv(place, str(program))
    else:
        monkeypatch.setenv(place, f"'{program}' -i mine")
    with pytest.raises(SourceError):
        Reading(tmp_path / "state", {"repository": "git@example.org:a/b.git"})
    said = told.read_text()
    assert ("-i mine" in said) is (place != "GIT_SSH")
    assert "ProxyCommand=" in said
    assert "git@example.org" in said


def put_in_place_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Replace `git` by a script, in which $GIT is git itself."""
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nGIT='{shutil.which('git')}'\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)


def test_nothing_is_fetched_if_nothing_is_missing(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"a.md": "# Seals"})
    told = tmp_path / "told"
    script = f'echo "$@" >> "{told}"\nexec "$GIT" "$@"'
    put_in_place_of_git(tmp_path, monkeypatch, script)
    fetches = []
    for _ in range(2):
        told.write_text("")
        read(repository, tmp_path)
        fetches.append([line for line in told.read_text().splitlines() if " fetch " in line])
    first, second = fetches
    assert (len(first), len(second)) == (2, 1)
    assert "--stdin" in first[1] and "--stdin" not in second[0]


def test_the_end_of_gits_output_is_quoted(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"a.md": "# Seals"})
    script = f'echo first >&2; echo {"x" * 301} >&2; exit 1'
    put_in_place_of_git(tmp_path, monkeypatch, script)
    with pytest.raises(SourceError) as caught:
        read(repository, tmp_path)
    assert caught.value.message == (
        f"source docs: cannot read HEAD of {repository.folder}: {'x' * 300}"
    )


def test_failures_without_output_are_named_by_exit_code(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"a.md": "# Seals"})
    put_in_place_of_git(tmp_path, monkeypatch, "exit 7")
    with pytest.raises(SourceError, match="git ended with 7"):
        read(repository, tmp_path)
