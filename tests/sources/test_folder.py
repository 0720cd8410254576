"""The folder source: which files are read, their order, and reasons for leaving files out."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from conftest import MakeProject
from processes import foundry
from systems import without_rights

from foundry.config.sources import FolderSource
from foundry.documents import RawDocument, Skipped
from foundry.errors import SourceError
from foundry.sources import folder


def make_source(path: Path, **values: Any) -> FolderSource:
    defaults: dict[str, Any] = {
        "name": "docs",
        "include": ("**/*",),
        "exclude": (),
        "base_url": None,
        "url_suffix": None,
        "tags": (),
        "max_bytes": 1_000_000,
    }
    return FolderSource(path=path, **{**defaults, **values})


def write_tree(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def iterate(source: FolderSource) -> Iterator[RawDocument | Skipped]:
    return (
        each if isinstance(each, Skipped) else folder.read_file(source, each.key)
        for each in folder.look(source)
    )


def read_tree(path: Path, **values: Any) -> tuple[list[RawDocument], dict[str, str]]:
    found = list(iterate(make_source(path, **values)))
    documents = [item for item in found if isinstance(item, RawDocument)]
    return documents, {item.path: item.reason for item in found if isinstance(item, Skipped)}


def keys(path: Path, **values: Any) -> list[str]:
    return [document.key for document in read_tree(path, **values)[0]]


def test_files_are_ordered_by_whole_path(tmp_path: Path) -> None:
    write_tree(tmp_path, dict.fromkeys(["b.md", "a/z.md", "a.md", "a-b.md", "Z.md", "é.md"], "x"))
    assert keys(tmp_path) == ["Z.md", "a-b.md", "a.md", "a/z.md", "b.md", "é.md"]


def test_a_document_carries_url_tags_and_date(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a b/c#d.md": "text"})
    os.utime(tmp_path / "a b/c#d.md", (86_400, 86_400))
    (document,), _ = read_tree(
        tmp_path, base_url="https://x.org/docs/", tags=("t",), modified="file"
    )
    assert document.url == "https://x.org/docs/a%20b/c%23d.md"
    assert (document.tags, document.modified) == (("t",), "1970-01-02")
    assert (document.content, document.id, document.media_type) == (b"text", None, None)


@pytest.mark.parametrize(
    ("suffix", "urls"),
    [
        (None, ["README.md", "a.b.MDX", "api/index.rst", "api/x y.md", "data.csv", "index/t.txt"]),
        ("", ["", "a.b", "api", "api/x y", "data.csv", "index/t.txt"]),
        ("/", ["", "a.b/", "api/", "api/x y/", "data.csv", "index/t.txt"]),
        (".html", ["", "a.b.html", "api/", "api/x y.html", "data.csv", "index/t.txt"]),
    ],
)
def test_urls_are_those_of_published_pages(
    suffix: str | None, urls: list[str], tmp_path: Path
) -> None:
    names = ["README.md", "a.b.MDX", "api/index.rst", "api/x y.md", "data.csv", "index/t.txt"]
    write_tree(tmp_path, dict.fromkeys(names, "x"))
    documents, _ = read_tree(tmp_path, base_url="https://x.org/docs", url_suffix=suffix)
    wanted = [f"https://x.org/docs/{url.replace(' ', '%20')}" for url in urls]
    assert [document.url for document in documents] == wanted


def test_include_and_exclude_are_git_patterns(tmp_path: Path) -> None:
    write_tree(tmp_path, dict.fromkeys(["a.md", "b.txt", "old/c.md", "new/d.md"], "x"))
    assert keys(tmp_path, include=("*.md",), exclude=("old/",)) == ["a.md", "new/d.md"]
    assert keys(tmp_path, include=("new/**",)) == ["new/d.md"]


def test_a_malformed_pattern_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="not a glob pattern"):
        iterate(make_source(tmp_path, include=("!",)))


def test_gitignore_files_apply_at_every_level_and_inner_ones_take_precedence(
    tmp_path: Path,
) -> None:
    write_tree(
        tmp_path,
        {
            ".gitignore": "*.log\n/build/\n# note\n!\nbad[z-a]\n",
            "a.log": "x",
            "build/b.md": "x",
            "sub/build/c.md": "x",
            "sub/.gitignore": "!keep.log\n/only.md\n",
            "sub/keep.log": "x",
            "sub/other.log": "x",
            "sub/only.md": "x",
            "sub/deep/only.md": "x",
        },
    )
    assert keys(tmp_path) == ["sub/build/c.md", "sub/deep/only.md", "sub/keep.log"]


def test_hidden_names_are_left_out_unless_a_pattern_names_them(tmp_path: Path) -> None:
    write_tree(tmp_path, dict.fromkeys([".x.md", ".github/a.md", ".git/b.md", "c.md"], "x"))
    assert keys(tmp_path) == ["c.md"]
    assert keys(tmp_path, include=(".github/**", ".git/**")) == [".github/a.md"]


SECRETS = """
    .env .env.local prod.env .netrc .npmrc .yarnrc.yml .pypirc .htpasswd htpasswd .git-credentials
    .pgpass .my.cnf .vault-token .s3cfg .boto .dockercfg rclone.conf wp-config.php auth.json
    token.json rootkey.csv eve_accessKeys.csv credentials credentials.json Credentials.CSV
    credentials-prod.json credentials2.txt credentials.py credential.json secrets secrets.yaml
    secrets.json secrets.txt secrets.h secret.yaml passwords.csv password.txt client_secret_7.json
    service-account.json service-account-prod.json service_account.json gcp-key-1.json
    terraform.tfstate terraform.tfstate.backup prod.tfvars prod.tfvars.json kubeconfig
    kubeconfig-prod kubeconfig.yaml dev.kubeconfig id_rsa id_rsa.bak id_ed25519 id_ed25519_sk
    deploy_rsa secring.gpg server.PEM tls.key config/master.key cert.pfx office.ovpn
    gh/hosts.yml aws/credentials
""".split()
NO_SECRETS = """
    credentials.md credentials.html credentials-api.html Credentials.docx secrets.md secrets.rst
    secrets.adoc secrets.pdf secret.html kubeconfig.md client_secret.md CredentialsProvider.java
    credentials_test.go secret.go passwords.ts id_rsa.pub id_ed25519.pub service-account.yaml
    service-account.md hosts.yml kube/config docker/config.json my-secrets.yaml environment.yml
    database.yml main.tf author.json tokens.json keys.md
""".split()


def test_secrets_are_listed_and_never_read(tmp_path: Path) -> None:
    write_tree(tmp_path, dict.fromkeys([*SECRETS, "a.md"], "x"))
    documents, skipped = read_tree(tmp_path)
    assert [document.key for document in documents] == ["a.md"]
    assert skipped == dict.fromkeys(SECRETS, "looks like a secret")


def test_drawings_and_style_sheets_are_read_only_if_a_pattern_names_them(tmp_path: Path) -> None:
    names = ("a.svg", "deep/B.SVG", "c.css", "d.drawio", "e.md", ".f.svg", "deep/svg")
    write_tree(tmp_path, dict.fromkeys(names, "x"))
    documents, skipped = read_tree(tmp_path)
    assert [document.key for document in documents] == ["deep/svg", "e.md"]
    others = ("a.svg", "c.css", "d.drawio", "deep/B.SVG")
    assert skipped == dict.fromkeys(others, "a drawing or a style sheet")
    asked = ("**/*", "**/*.svg", "/c.css")
    assert keys(tmp_path, include=asked) == ["a.svg", "c.css", "deep/svg", "e.md"]
    assert keys(tmp_path, include=("*.css", "deep/*.SVG")) == ["c.css", "deep/B.SVG"]


def test_secrets_in_named_hidden_folders_are_left_out(
    tmp_path: Path,
) -> None:
    names = [".aws/credentials", ".docker/config.json", ".kube/config"]
    write_tree(tmp_path, dict.fromkeys([*names, ".docker/a.md"], "x"))
    folders = (".aws/**", ".docker/**", ".kube/**")
    documents, skipped = read_tree(tmp_path, include=folders)
    assert [document.key for document in documents] == [".docker/a.md"]
    assert skipped == dict.fromkeys(names, "looks like a secret")


def test_texts_about_secrets_are_read(tmp_path: Path) -> None:
    write_tree(tmp_path, dict.fromkeys(NO_SECRETS, "x"))
    documents, skipped = read_tree(tmp_path)
    assert sorted(document.key for document in documents) == sorted(NO_SECRETS)
    assert skipped == {}


def details(path: Path, **values: Any) -> dict[str, str]:
    found = iterate(make_source(path, **values))
    return {item.path: item.detail for item in found if isinstance(item, Skipped)}


def test_a_pattern_that_names_a_secret_includes_only_that_file(tmp_path: Path) -> None:
    names = ["a/my [1] secrets.md.tfvars", "a/credentials.json", "b/credentials.json", ".env"]
    write_tree(tmp_path, dict.fromkeys(names, "x"))
    found = details(tmp_path)
    assert sorted(found) == sorted(names)
    for name in names:
        written = found[name].removeprefix("read with ").removesuffix(" in include")
        pattern = json.loads(written)
        assert keys(tmp_path, include=("**/*", pattern)) == [name]
    write_tree(tmp_path, {"é/credentials.json": "x"})
    assert details(tmp_path)["é/credentials.json"] == 'read with "/é/credentials.json" in include'
    (tmp_path / "é/credentials.json").unlink()
    assert keys(tmp_path, include=("credentials.json",)) == [
        "a/credentials.json",
        "b/credentials.json",
    ]


@pytest.mark.parametrize("pattern", ["*.json", "a/**", "cred*.json", "credentials.jso?", "a"])
def test_a_pattern_that_does_not_name_a_secret_does_not_include_it(
    pattern: str, tmp_path: Path
) -> None:
    write_tree(tmp_path, {"a/credentials.json": "x", "a/b.json": "x"})
    assert keys(tmp_path, include=(pattern, "a/b.json")) == ["a/b.json"]


def test_links_are_listed_and_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_tree(root, {"a.md": "x", "sub/b.md": "y"})
    (root / "loop").symlink_to(root)
    (root / "sub/up").symlink_to("..")
    (root / "inside.md").symlink_to("a.md")
    (root / "passwd").symlink_to("/etc/passwd")
    (root / "memory").symlink_to("/proc/self/mem")
    (root / "zero").symlink_to("/dev/zero")
    (root / "dangling").symlink_to("nowhere")
    found = list(iterate(make_source(root)))
    skipped = {item.path: item for item in found if isinstance(item, Skipped)}
    assert [item.key for item in found if isinstance(item, RawDocument)] == ["a.md", "sub/b.md"]
    assert {item.reason for item in skipped.values()} == {"symbolic link"}
    assert len(skipped) == 7
    assert skipped["passwd"].detail == "leads outside the folder"
    for link in ("inside.md", "loop", "sub/up"):
        assert skipped[link].detail == "leads inside the folder"


def test_pipes_and_sockets_do_not_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        documents, skipped = read_tree(tmp_path)
    assert documents == []
    assert skipped == {"pipe": "not a regular file", "socket": "not a regular file"}


def test_empty_and_oversized_files_are_listed_without_reading_them(tmp_path: Path) -> None:
    write_tree(tmp_path, {"empty.md": ""})
    with (tmp_path / "sparse.txt").open("wb") as file:
        file.truncate(10_000_000_000)
    skipped = [
        Skipped("docs", "empty.md", "empty file"),
        Skipped(
            *("docs", "sparse.txt", "over the size limit"),
            "10000000000 bytes, the limit is 1000000",
        ),
    ]
    assert list(folder.look(make_source(tmp_path))) == skipped


def test_a_file_of_exactly_the_maximum_size_is_read(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "12345", "b.md": "123456"})
    documents, skipped = read_tree(tmp_path, max_bytes=5)
    assert [document.content for document in documents] == [b"12345"]
    assert skipped == {"b.md": "over the size limit"}


def test_dates_of_files_are_used_only_if_configured(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "x"})
    assert [document.modified for document in read_tree(tmp_path)[0]] == [None]


@pytest.mark.parametrize("becomes", ["link", "pipe", "folder", "empty", "large", "gone"])
def test_a_file_replaced_before_it_is_read_is_listed(becomes: str, tmp_path: Path) -> None:
    write_tree(tmp_path, {"docs/a.md": "x", "secret.md": "y"})
    source, file = make_source(tmp_path / "docs", max_bytes=5), tmp_path / "docs/a.md"
    (found,) = folder.look(source)
    assert isinstance(found, folder.Found)
    file.unlink()
    if becomes == "link":
        file.symlink_to(tmp_path / "secret.md")
    elif becomes == "pipe":
        os.mkfifo(file)
    elif becomes == "folder":
        file.mkdir()
    elif becomes != "gone":
        file.write_text("" if becomes == "empty" else "123456")
    expected = {
        "link": ("cannot be read", "Too many levels of symbolic links"),
        "pipe": ("changed while it was read", ""),
        "folder": ("cannot be read", "Is a directory"),
        "empty": ("empty file", ""),
        "large": ("over the size limit", "6 bytes, the limit is 5"),
        "gone": ("cannot be read", "No such file or directory"),
    }
    assert folder.read_file(source, found.key) == Skipped("docs", "a.md", *expected[becomes])


def test_a_folder_replaced_by_a_link_is_not_followed(tmp_path: Path) -> None:
    write_tree(tmp_path, {"docs/sub/a.md": "x", "elsewhere/a.md": "y"})
    source = make_source(tmp_path / "docs")
    (found,) = folder.look(source)
    assert isinstance(found, folder.Found)
    (tmp_path / "docs/sub").rename(tmp_path / "moved")
    (tmp_path / "docs/sub").symlink_to(tmp_path / "elsewhere")
    skipped = folder.read_file(source, found.key)
    assert isinstance(skipped, Skipped)
    assert (skipped.path, skipped.reason) == ("sub/a.md", "cannot be read")


@pytest.mark.parametrize(("call", "path"), [("stat", "a.md"), ("scandir", "."), ("open", "sub")])
def test_files_that_the_system_refuses_are_listed_with_its_reason(
    call: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"a.md": "x", "sub/b.md": "y"})
    real = getattr(os, call)

    def refuse(name: Any, *arguments: Any, **options: Any) -> Any:
        if call == "scandir" or name in (b"a.md", b"sub"):
            raise PermissionError(13, "Permission denied")
        return real(name, *arguments, **options)

    monkeypatch.setattr(os, call, refuse)
    found = list(folder.look(make_source(tmp_path)))
    assert [each for each in found if isinstance(each, Skipped)] == [
        Skipped("docs", path, "cannot be read", "Permission denied")
    ]


@pytest.mark.parametrize(("size", "is_read"), [(1_000_000, False), (1_000_001, True)])
def test_a_gitignore_file_of_more_than_a_megabyte_is_ignored(
    size: int, is_read: bool, tmp_path: Path
) -> None:
    write_tree(tmp_path, {"a.md": "x", ".gitignore": "a.md\n".ljust(size, "#")})
    assert keys(tmp_path) == (["a.md"] if is_read else [])


def test_names_stay_distinct_and_are_shown_printable(tmp_path: Path) -> None:
    names = [b"caf\xe9.md", "café.md".encode(), "cafe\u0301.md".encode(), b"CAF.md", b"caf.md"]
    names += [b"a\nb\x1b[1m.md", b"-rf.md", b"x" * 252 + b".md", "a\u202eb.md".encode()]
    root = os.fsencode(tmp_path)
    for name in names:
        with open(root + b"/" + name, "wb") as file:  # noqa: PTH123 (bytes)
            file.write(b"x")
    documents, _ = read_tree(tmp_path)
    assert len({document.key for document in documents}) == len(names)
    shown = {document.path for document in documents}
    assert {"caf\ufffd.md", "a\\x0ab\\x1b[1m.md", "a\\u202eb.md"} <= shown
    assert all(path.isprintable() for path in shown)


def test_a_file_that_changes_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {"a.md": "old"})
    real = os.fstat
    calls = []

    def fstat(file: int) -> os.stat_result:
        result = real(file)
        if result.st_ino == (tmp_path / "a.md").stat().st_ino:
            calls.append(file)
            if len(calls) == 1:
                (tmp_path / "a.md").write_text("newer and longer")
        return result

    monkeypatch.setattr(os, "fstat", fstat)
    (document,), _ = read_tree(tmp_path)
    assert document.content == b"newer and longer"


def test_a_file_that_keeps_changing_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"a.md": "x"})
    real = os.fstat

    def fstat(file: int) -> os.stat_result:
        result = real(file)
        with (tmp_path / "a.md").open("a") as stream:
            stream.write("x")
        return result

    monkeypatch.setattr(os, "fstat", fstat)
    assert read_tree(tmp_path) == ([], {"a.md": "changed while it was read"})


def test_one_document_is_in_memory_at_a_time(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "x", "b.md": "y"})
    documents = iterate(make_source(tmp_path))
    next(documents)
    (tmp_path / "b.md").write_text("written later")
    second = next(documents)
    assert isinstance(second, RawDocument)
    assert second.content == b"written later"


def test_unreadable_files_and_folders_are_listed(make_project: MakeProject) -> None:
    project = make_project({"a.md": "x", "locked/b.md": "y", "c.md": "Some words."})
    locked = [project.root / "sources" / "a.md", project.root / "locked"]
    config = project.root / "foundry.toml"
    config.write_text(config.read_text().replace('"sources"', '"."'), encoding="utf-8")
    for path in locked:
        path.chmod(0)
    done = foundry("build", project.root, "--json", prefix=without_rights())
    for path in locked:
        path.chmod(0o700)
    assert done.returncode == 0, done.stderr
    report = json.loads((project.index / "report.json").read_bytes())
    skipped = {each["path"]: each["reason"] for each in report["skipped"]}
    assert skipped == {"sources/a.md": "cannot be read", "locked": "cannot be read"}


def test_a_missing_folder_is_an_error_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere"):
        iterate(make_source(tmp_path / "nowhere"))


def test_very_deep_folders_are_cut_off(tmp_path: Path) -> None:
    deep = "/".join(["d"] * 100)
    write_tree(tmp_path, {f"{deep}/a.md": "x", f"{deep}/d/b.md": "x", f"{deep}/d/d/c.md": "x"})
    documents, skipped = read_tree(tmp_path)
    assert [document.key for document in documents] == [f"{deep}/a.md"]
    assert skipped == {f"{deep}/d": "folders are nested too deeply"}


def open_paths_below(folder: Path) -> list[Path]:
    """Return the paths below a folder that this process has open."""
    opened = []
    for descriptor in Path("/proc/self/fd").iterdir():
        # By now, the descriptor that listed the folder is closed.
        with suppress(FileNotFoundError):
            opened.append(descriptor.readlink())
    return [path for path in opened if path.is_relative_to(folder)]


def test_no_file_handle_is_left_open(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{n}/{n}.md": "x" for n in range(20)})
    threads = set(threading.enumerate())
    read_tree(tmp_path)
    assert open_paths_below(tmp_path) == []
    assert set(threading.enumerate()) <= threads
