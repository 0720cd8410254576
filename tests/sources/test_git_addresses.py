"""Where git may connect to: only public addresses, wherever an address comes from."""

import functools
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import MakeProject, Project
from systems import needs_ssh

from foundry.cli.main import main

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

GIT = '[project]\nname = "notes"\n\n[[sources]]\ntype = "git"\nrepository = "{}"\n'


class Canary:
    """Listens on this machine, and records what it receives."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                with connection:
                    connection.settimeout(5)
                    with suppress(OSError):
                        self.heard.append(connection.recv(1_000))

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def canary() -> Iterator[Canary]:
    canary = Canary()
    yield canary
    canary.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A repository on a server of static files: its folder, and the port."""
    folder = tmp_path / "served"
    author = {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME",)}
    author |= {"GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_EMAIL": "a@b"}

    def git(*arguments: str) -> None:
        environment = {**os.environ, **author}
        subprocess.run(
            ["git", *arguments], cwd=folder, env=environment, capture_output=True, check=True
        )

    folder.mkdir()
    git("init", "--quiet", "--initial-branch=main")
    (folder / "seals.md").write_text("# Seals\n\nReplace the seal yearly.")
    git("add", "seals.md")
    git("commit", "--quiet", "--message=seals")
    git("update-server-info")
    with serving(functools.partial(SimpleHTTPRequestHandler, directory=str(folder))) as port:
        yield folder / ".git", port


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler] | functools.partial[object]) -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:  # type: ignore[arg-type]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def begin(make_project: MakeProject, url: str) -> Project:
    return make_project({}, config=GIT.format(url))


def build(project: Project, *allowed: str) -> Result:
    hosts = [part for host in allowed for part in ("--allow-private", host)]
    return project.run("build", "--quiet", *hosts)


def refuse(project: Project, canary: Canary, *allowed: str) -> None:
    result = build(project, *allowed)
    assert result.exit_code == 1
    assert "private address" in result.output
    assert "hint: to allow this host, name it: --allow-private HOST" in result.output
    assert canary.heard == []


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"])
def test_urls_of_private_addresses_are_refused(
    scheme: str, host: str, make_project: MakeProject, canary: Canary
) -> None:
    refuse(begin(make_project, f"{scheme}://{host}:{canary.port}/x.git"), canary)


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1"])
def test_other_notations_of_private_addresses_are_refused(
    host: str, make_project: MakeProject, canary: Canary
) -> None:
    project = begin(make_project, f"http://{host}:{canary.port}/x.git")
    result = project.run("build", "--quiet")
    assert result.exit_code == 1
    assert "private address" in result.output or "unusual spelling" in result.output
    assert canary.heard == []


@needs_ssh
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_ssh_to_private_addresses_is_refused(
    host: str, make_project: MakeProject, canary: Canary
) -> None:
    refuse(begin(make_project, f"ssh://git@{host}:{canary.port}/x.git"), canary)


@needs_ssh
def test_ssh_aliases_of_private_addresses_are_refused(
    make_project: MakeProject, canary: Canary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ssh config"
    file.write_text(f"Host inside\n  HostName 127.0.0.1\n  Port {canary.port}\n")
    monkeypatch.setenv("GIT_SSH_COMMAND", f"ssh -F '{file}'")
    refuse(begin(make_project, "git@inside:x.git"), canary)


@needs_ssh
def test_ssh_to_an_allowed_private_address_works(make_project: MakeProject, canary: Canary) -> None:
    url = f"ssh://git@127.0.0.1:{canary.port}/x.git"
    build(begin(make_project, url), f"127.0.0.1:{canary.port}")
    assert canary.heard and canary.heard[0].startswith(b"SSH-2.0-")


def test_the_git_protocol_is_refused(make_project: MakeProject, canary: Canary) -> None:
    result = begin(make_project, f"git://127.0.0.1:{canary.port}/x.git").run("build", "--quiet")
    assert result.exit_code == 2
    assert "write a path, an https or ssh url" in result.output
    assert canary.heard == []


def test_an_allowed_private_address_is_read(
    served: tuple[Path, int], make_project: MakeProject
) -> None:
    host = f"127.0.0.1:{served[1]}"
    project = begin(make_project, f"http://{host}/.git")
    assert build(project, host).exit_code == 0
    assert project.ask("seal")["results"][0]["path"] == "seals.md"


def test_another_port_of_an_allowed_host_is_refused(
    make_project: MakeProject, canary: Canary
) -> None:
    url = f"http://127.0.0.1:{canary.port}/x.git"
    refuse(begin(make_project, url), canary, "127.0.0.1", "127.0.0.1:1")


@pytest.mark.parametrize("follow", ["initial", "true"])
def test_redirects_to_private_addresses_are_refused(
    follow: str,
    make_project: MakeProject,
    canary: Canary,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = tmp_path / "gitconfig"
    config.write_text(f"[http]\n\tfollowRedirects = {follow}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))

    class Redirect(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", f"http://127.0.0.1:{canary.port}{self.path}")
            self.end_headers()

    with serving(Redirect) as port:
        host = f"127.0.0.1:{port}"
        refuse(begin(make_project, f"http://{host}/x.git"), canary, host)


def test_alternates_at_private_addresses_are_refused(
    served: tuple[Path, int], make_project: MakeProject, canary: Canary
) -> None:
    folder, port = served
    elsewhere = f"http://127.0.0.1:{canary.port}/objects/\n"
    (folder / "objects/info/http-alternates").write_text(elsewhere)
    (folder / "objects/info/alternates").write_text(elsewhere)
    for objects in folder.glob("objects/??"):
        shutil.rmtree(objects)
    host = f"127.0.0.1:{port}"
    result = build(begin(make_project, f"http://{host}/.git"), host)
    assert result.exit_code == 1
    assert canary.heard == []


def test_urls_rewritten_to_private_addresses_are_refused(
    make_project: MakeProject, canary: Canary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "gitconfig"
    inside = f"http://127.0.0.1:{canary.port}/"
    config.write_text(f'[url "{inside}"]\n\tinsteadOf = https://example.org/\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    refuse(begin(make_project, "https://example.org/x.git"), canary)


@pytest.mark.parametrize("name", ["no_proxy", "NO_PROXY"])
def test_no_proxy_does_not_allow_private_addresses(
    name: str, make_project: MakeProject, canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "*")
    refuse(begin(make_project, f"http://127.0.0.1:{canary.port}/x.git"), canary)


@pytest.mark.parametrize("place", ["variable", "configuration", "configuration of the host"])
def test_the_users_proxy_is_not_used(
    place: str,
    make_project: MakeProject,
    canary: Canary,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proxy = f"http://127.0.0.1:{canary.port}"
    url = "http://127.0.0.1:9/x.git"
    config = tmp_path / "gitconfig"
    config.write_text(
        {
            "variable": "",
            "configuration": f"[http]\n\tproxy = {proxy}\n",
            "configuration of the host": f'[http "http://127.0.0.1:9/"]\n\tproxy = {proxy}\n',
        }[place]
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    if place == "variable":
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.setenv("ALL_PROXY", proxy)
    refuse(begin(make_project, url), canary)


def test_an_unknown_host_is_named(make_project: MakeProject) -> None:
    result = begin(make_project, "https://no-such-host.invalid/x.git").run("build", "--quiet")
    assert result.exit_code == 1
    assert "host not found: no-such-host.invalid" in result.output


def test_a_closed_port_is_named(make_project: MakeProject, canary: Canary) -> None:
    canary.close()
    host = f"127.0.0.1:{canary.port}"
    result = build(begin(make_project, f"http://{host}/x.git"), host)
    assert result.exit_code == 1
    assert "cannot be reached: 127.0.0.1" in result.output


def test_urls_are_not_interpreted_as_paths(
    make_project: MakeProject,
    served: tuple[Path, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = tmp_path / "gitconfig"
    config.write_text(f'[url "file://{served[0]}"]\n\tinsteadOf = https://example.org/x.git\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    result = begin(make_project, "https://example.org/x.git").run("build", "--quiet")
    assert result.exit_code == 1
    assert "transport 'file' not allowed" in result.output


def test_a_project_cannot_allow_a_private_address(
    make_project: MakeProject, canary: Canary
) -> None:
    host = f"127.0.0.1:{canary.port}"
    config = GIT.format(f"http://{host}/x.git") + f'allow_private = ["{host}"]\n'
    project = make_project({}, config=config)
    for command in ("build", "serve"):
        result = project.run(command)
        assert result.exit_code == 2
        said = "a project may not allow this; pass --allow-private HOST to the command"
        assert f"sources[0].allow_private: {said}" in result.output
    assert canary.heard == []


@pytest.mark.parametrize("command", ["build", "serve", "watch"])
@pytest.mark.parametrize("host", ["http://git.internal", "git.internal:0", "127.1", ""])
def test_allowed_hosts_must_be_host_names(command: str, host: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, [command, str(tmp_path), "--allow-private", host])
    assert result.exit_code == 2
    assert "Invalid value for '--allow-private'" in result.output


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("git@git.internal:a/b", "git.internal"),
        ("ssh://git@10.0.0.1:2222/b.git", "10.0.0.1:2222"),
        ("https://[fd00::1]/b.git", "'[fd00::1]'"),
        ("http://intranet/docs/", "intranet"),
        ("https://example.org/b.git", ""),
        ("git@example.org:b", ""),
        ("https://example.org/docs/", ""),
    ],
)
def test_init_says_how_to_build_from_a_private_host(url: str, allowed: str, tmp_path: Path) -> None:
    root = tmp_path / "p"
    result = CliRunner().invoke(main, ["init", str(root), "--source", url])
    assert result.exit_code == 0, result.output
    option = f" --allow-private {allowed}" if allowed else ""
    assert result.output.endswith(f"next: foundry build {root}{option}\n")
    assert "allow_private" not in (root / "foundry.toml").read_text()
