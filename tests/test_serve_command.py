"""`foundry serve`: a folder of documents becomes a search page, and stays up to date."""

import os
import re
import signal
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import web_sites
from conftest import CONFIG, MakeProject
from processes import FOUNDRY, Running, foundry, running, snapshot
from servers import answers, found_paths, title_of
from sharing import begin_foundry
from systems import needs_glibc, needs_proc, without_rights
from waiting import wait_until
from web_sites import Route, page

# Tests that send signals to servers use `FOUNDRY`, whose servers are not forked.
pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

SECONDS = 60
SEALS = "# Seals\n\nReplace the D40 seal yearly.\n"


class Serve(Running):
    """A running `foundry serve`."""

    def wait_for_address(self) -> str:
        return self.wait_for(r"listening on (http://\S+:\d+);")[1]

    def interrupt(self) -> str:
        """Press Ctrl-C, and return the output after that; the process must exit normally."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.stdout is not None
        said = self.process.stdout.read()
        assert self.process.wait(SECONDS) in {0, 130}
        assert "Traceback" not in said
        return said


@contextmanager
def serving(
    path: Path | str,
    *options: str,
    variables: Mapping[str, str] | None = None,
    begin: Sequence[str] | None = None,
) -> Iterator[Serve]:
    arguments = ("serve", path, "--port", "0", *options)
    with running(*arguments, variables=variables, begin=begin or begin_foundry()) as process:
        yield Serve(process)


def refused(*arguments: str | Path, **options: Any) -> "subprocess.CompletedProcess[str]":
    return foundry(*arguments, begin=begin_foundry(), **options)


def edit(path: Path, content: str) -> None:
    """Replace a file as an editor does."""
    temporary = path.with_name(path.name + ".swp~")
    temporary.write_text(content, encoding="utf-8")
    temporary.replace(path)


@pytest.fixture
def cache(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_a_folder_is_served_without_changing_it(tmp_path: Path, cache: dict[str, str]) -> None:
    folder = tmp_path / "pump manuals"
    (folder / "deep").mkdir(parents=True)
    (folder / "seals.md").write_text(SEALS)
    (folder / "deep" / "pumps.txt").write_text("Test the pumps each week.")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (folder / "credentials.csv").write_text("user,key\neve,hunter2\n")
    before = snapshot(folder)
    with serving(folder, "--no-watch", variables=cache) as serve:
        address = serve.wait_for_address()
        said = "".join(serve.said)
        assert "pump manuals has no foundry.toml: it is served with the defaults" in said
        assert f"foundry init NAME --source '{folder}'" in said
        assert re.search(r"2 documents, 2 chunks in", said)
        assert re.search(r"2 skipped:\n +1  ", said)
        assert "     1  looks like a secret\n" in said
        assert 'include = ["**/*", "/PATH/OF/IT"] in [[sources]]' in said
        last = "".join(serve.said[-3:-1])
        assert last.startswith("2 files left out: ") and "looks like a secret (1)" in last
        assert "to read scans: ocr = true in [[sources]] of a project" in last
        with urllib.request.urlopen(f"{address}/", timeout=SECONDS) as page:
            assert b"<html" in page.read()
        assert title_of(address) == "pump manuals"
        assert found_paths(address, "D40 seal") == ["seals.md"]
        assert found_paths(address, "week") == ["deep/pumps.txt"]
        assert serve.interrupt() == "stopped\n"
    assert not answers(address)
    assert snapshot(folder) == before
    [project] = filter(Path.is_dir, (tmp_path / "cache" / "foundry").iterdir())
    assert re.fullmatch(r"pump-manuals-[0-9a-f]{12}", project.name)
    assert project.stat().st_mode & 0o777 == 0o700
    assert project.parent.stat().st_mode & 0o777 == 0o700


def count_thread_heaps(process: int) -> int:
    """Count the address ranges that glibc has reserved for the heaps of threads."""
    size, found = 64 << 20, 0
    maps = [line.split()[:2] for line in Path(f"/proc/{process}/maps").read_text().splitlines()]
    for (used, rights), (rest, kept) in pairwise(maps):
        start, end = int(used.partition("-")[0], 16), int(rest.partition("-")[2], 16)
        found += not start % size and end - start == size and (rights, kept) == ("rw-p", "---p")
    return found


@needs_glibc
def test_threads_of_a_watched_folder_share_a_heap(tmp_path: Path, cache: dict[str, str]) -> None:
    """Otherwise each edit leaves memory in heaps that glibc does not trim."""
    folder = tmp_path / "manuals"
    folder.mkdir()
    (folder / "seals.md").write_text(SEALS)
    with serving(folder, variables=cache, begin=FOUNDRY) as serve:
        address = serve.wait_for_address()
        edit(folder / "seals.md", SEALS.replace("D40", "D41"))
        wait_until(lambda: found_paths(address, "D41") == ["seals.md"])
        assert count_thread_heaps(serve.process.pid) == 0


@pytest.mark.slow
def test_one_file_is_served_and_watched(tmp_path: Path, cache: dict[str, str]) -> None:
    folder = tmp_path / "all sorts"
    (folder / "more").mkdir(parents=True)
    file = folder / "seals [1].md"
    for path in (file, folder / "seals 1.md", folder / "more" / file.name):
        path.write_text(SEALS)
    with serving(file, variables=cache) as serve:
        address = serve.wait_for_address()
        assert found_paths(address, "D40") == [file.name]
        (folder / "more" / "other.md").write_text("# Other\n")
        edit(file, "# Seals\n\nReplace the E50 seal.\n")
        serve.wait_for("1 document, .*: 1 read, 0 unchanged")
        wait_until(lambda: found_paths(address, "E50") == [file.name])
        serve.interrupt()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "documents"),
    [
        ("id,text\n1,Replace the D40 seal.\n2,Test the pumps.\n", 2),
        ("part,price\nthe D40 seal,3\npump,5\n", 1),
    ],
)
def test_a_table_is_served_by_rows_or_as_one_document(
    content: str, documents: int, tmp_path: Path, cache: dict[str, str]
) -> None:
    (tmp_path / "parts.csv").write_text(content)
    with serving(tmp_path / "parts.csv", "--no-watch", variables=cache) as serve:
        address = serve.wait_for_address()
        assert f"{documents} document" in "".join(serve.said)
        kept = [tmp_path, tmp_path / "parts.csv"][documents - 1]
        assert f"foundry init NAME --source {kept}\n" in "".join(serve.said)
        assert found_paths(address, "D40") == [["parts.csv"], ["1"]][documents - 1]


def test_a_website_is_served(cache: dict[str, str]) -> None:
    routes: dict[str, Route] = {
        "/docs/": page("Seals", "/docs/a", "/blog", text="Replace the D40 seal yearly."),
        "/docs/a": page("Pumps", text="Test the pumps each week."),
        "/blog": page("Blog", text="A week in the life of a seal."),
    }
    with web_sites.serving(routes) as site:
        url = f"{site.url}/docs/"
        with serving(url, "--no-watch", variables=cache) as serve:
            address = serve.wait_for_address()
            assert f"foundry init NAME --source {url}" in "".join(serve.said)
            assert found_paths(address, "week") == [f"{url}a"]
            assert title_of(address) == url.removeprefix("http://").strip("/")


@pytest.mark.parametrize("watching", [[], ["--no-watch"]])
def test_a_private_website_is_served_if_the_user_allows_it(
    watching: list[str], tmp_path: Path, cache: dict[str, str]
) -> None:
    routes: dict[str, Route] = {"/": page("Seals", text="Replace the D40 seal yearly.")}
    with web_sites.serving(routes) as site:
        config = f'[project]\nname = "x"\n[[sources]]\ntype = "site"\nurl = "{site.url}/"\n'
        (tmp_path / "foundry.toml").write_text(config)
        done = refused("serve", tmp_path, *watching, variables=cache)
        assert (done.returncode, "1 x private address" in done.stderr) == (1, True)
        assert site.paths() == []
        with serving(tmp_path, *watching, *site.allowing, variables=cache) as serve:
            assert found_paths(serve.wait_for_address(), "D40") == [f"{site.url}/"]


@pytest.mark.slow
def test_a_server_without_reloading_is_restarted(make_project: MakeProject) -> None:
    project = make_project({"a.md": SEALS}, config=CONFIG + "[server]\nreloading = false\n")
    with serving(project.root) as serve:
        address = serve.wait_for_address()
        edit(project.root / "sources" / "b.md", "# Zyzzyva\n\nA weevil of the tropics.")
        serve.wait_for("2 documents, .*: 1 read, 1 unchanged")
        assert serve.wait_for_address() == address
        assert found_paths(address, "weevil") == ["b.md"]


@pytest.mark.slow
def test_changes_are_served_and_no_request_fails(make_project: MakeProject) -> None:
    project = make_project({"a.md": SEALS})
    with serving(project.root) as serve:
        address = serve.wait_for_address()
        stop, failures, asked = threading.Event(), list[str](), 0

        def ask() -> None:
            nonlocal asked
            while not stop.is_set():
                try:
                    assert "a.md" in found_paths(address, "seals")
                except (OSError, AssertionError) as error:
                    failures.append(repr(error))
                asked += 1

        client = threading.Thread(target=ask)
        client.start()
        try:
            edit(project.root / "sources" / "b.md", "# Zyzzyva\n\nA weevil of the tropics.")
            serve.wait_for("2 documents, .*: 1 read, 1 unchanged")
            wait_until(lambda: found_paths(address, "weevil") == ["b.md"])
            edit(project.root / "sources" / "b.md", "# Pumps\n\nTest them.")
            wait_until(lambda: found_paths(address, "weevil") == [])

            edit(project.root / "foundry.toml", CONFIG + "[serch]\n")
            line = serve.wait_for("the previous version stays in service: ").string
            assert "serch: unknown key; did you mean 'search'?" in line
            assert found_paths(address, "pumps") == ["b.md"]
        finally:
            stop.set()
            client.join()
        assert not failures
        assert asked

        # A change of foundry.toml that affects the server restarts it.
        edit(project.root / "foundry.toml", CONFIG.replace('"notes"', '"notes"\ntitle = "Wren"'))
        serve.wait_for("foundry.toml has changed: a new server has started")
        assert serve.wait_for_address() == address
        assert title_of(address) == "Wren"
        assert found_paths(address, "pumps") == ["b.md"]
        assert serve.interrupt() == "stopped\n"
    assert not answers(address)
    assert "Traceback" not in "".join(serve.said)


@pytest.mark.slow
def test_an_unreadable_folder_does_not_stop_the_server(
    tmp_path: Path, cache: dict[str, str]
) -> None:
    docs = tmp_path / "docs"
    (docs / "private").mkdir(parents=True)
    (docs / "seals.md").write_text(SEALS)
    # One of the folders is behind a link, which readers of folders do not follow.
    (tmp_path / "elsewhere" / "closed").mkdir(parents=True)
    (docs / "linked").symlink_to(tmp_path / "elsewhere")
    closed = [docs / "private", tmp_path / "elsewhere" / "closed"]
    for folder in closed:
        folder.chmod(0)
    begin = [*without_rights(), *FOUNDRY]
    try:
        with serving(docs, variables=cache, begin=begin) as serve:
            address = serve.wait_for_address()
            serve.wait_for("not watched: docs: private: Permission denied")
            serve.wait_for("watching 1 folder$")
            edit(docs / "pumps.md", "# Pumps\n\nTest the P90 pump monthly.\n")
            serve.wait_for("2 documents, 2 chunks")
            wait_until(lambda: found_paths(address, "pump") == ["pumps.md"])
            serve.interrupt()
        assert "linked" not in "".join(serve.said).partition("listening")[2]
    finally:
        for folder in closed:
            folder.chmod(0o755)


def test_the_previous_server_stays_if_a_new_one_cannot_start(make_project: MakeProject) -> None:
    project = make_project({"a.md": SEALS})
    with serving(project.root) as serve:
        address = serve.wait_for_address()
        edit(project.root / "foundry.toml", CONFIG + '[store]\nengine = "qdrant"\n')
        serve.wait_for("the previous version stays in service: .*QDRANT_URL")
        assert found_paths(address, "seals") == ["a.md"]
        edit(project.root / "foundry.toml", CONFIG.replace('"notes"', '"notes"\ntitle = "Wren"'))
        assert serve.wait_for_address() == address
        assert title_of(address) == "Wren"
        serve.interrupt()


@pytest.mark.slow
def test_no_server_is_left_when_the_command_is_killed(make_project: MakeProject) -> None:
    project = make_project({"a.md": SEALS})
    with serving(project.root, begin=FOUNDRY) as serve:
        address = serve.wait_for_address()
        assert answers(address)
        serve.process.kill()
        serve.process.wait(120)
        wait_until(lambda: not answers(address))


@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize("options", [[], ["--no-watch"]])
def test_a_server_that_dies_is_reported(options: list[str], make_project: MakeProject) -> None:
    project = make_project({"a.md": SEALS})
    with serving(project.root, *options, begin=FOUNDRY) as serve:
        serve.wait_for_address()
        pid = serve.process.pid
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
        serve.wait_for("error: notes: the server has exited with -9")
        assert serve.process.stdout is not None
        assert "Traceback" not in serve.process.stdout.read()
        assert serve.process.wait(SECONDS) == 1


@pytest.mark.slow
def test_unusable_sources_are_reported(make_project: MakeProject) -> None:
    project = make_project({"a.md": SEALS})
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = refused("serve", project.root, "--no-watch", "--port", str(port))
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1 port {port}" in done.stderr
    assert "choose another port with --port" in done.stderr
    without = {"API_TOKENS": ""}
    done = refused("serve", project.root, "--host", "0.0.0.0", "--port", "0", variables=without)
    assert done.returncode == 2
    assert "this server does not require a token" in done.stderr
    assert "hint: set API_TOKENS to one or more tokens" in done.stderr
    # The message comes before any build.
    assert not (project.root / ".foundry").exists()
    with serving(
        project.root, "--host", "0.0.0.0", "--insecure-no-auth", variables=without
    ) as serve:
        port = int(serve.wait_for_address().rpartition(":")[2])
        assert answers(f"http://127.0.0.1:{port}")


def test_a_failed_first_build_ends_the_command(tmp_path: Path, cache: dict[str, str]) -> None:
    done = refused("serve", tmp_path / "nowhere", variables=cache)
    assert (done.returncode, "no such folder or file" in done.stderr) == (1, True)
    done = refused("serve", "https:///docs/", variables=cache)
    assert (done.returncode, "write it like https://example.com/docs/" in done.stderr) == (1, True)
    assert not (tmp_path / "cache").exists()
    (tmp_path / "empty").mkdir()
    done = refused("serve", tmp_path / "empty", variables=cache)
    assert done.returncode == 1
    assert done.stderr.startswith("error: no documents to index in ")
    assert "hint: name a folder, a file or a url with documents" in done.stderr
    assert "foundry.toml" not in done.stderr
    (tmp_path / "empty" / "scan.png").write_bytes(b"\x89PNG\r\n\x1a\nIHDR\0")
    done = refused("serve", tmp_path / "empty", variables=cache)
    key = "ocr = true in [[sources]] of a project, which foundry init writes"
    assert f"hint: to read scans: {key}, and pip install " in done.stderr
    (tmp_path / "foundry.toml").write_text("[project\n")
    assert refused("serve", tmp_path, variables=cache).returncode == 2


@pytest.mark.slow
def test_the_browser_is_opened_once(tmp_path: Path, make_project: MakeProject) -> None:
    project = make_project({"a.md": SEALS})
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> "{opened}"\n')
    browser.chmod(0o755)
    with serving(
        project.root, "--open", "--no-watch", variables={"BROWSER": f"{browser} %s"}
    ) as serve:
        address = serve.wait_for_address()
        wait_until(lambda: opened.exists() and opened.read_text() != "")
        serve.interrupt()
    assert opened.read_text().split() == [address]
