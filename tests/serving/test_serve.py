"""`foundry serve` reloads or restarts the server after each build; the tests take single steps."""

import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterator
from itertools import islice
from typing import Any, cast

import pytest
from conftest import CONFIG, MakeProject, Project
from ports import free_port
from servers import answers, found_paths, get, title_of
from sharing import unformatted
from waiting import wait_until

from foundry import pipeline
from foundry.building.options import BuildOptions, BuildResult
from foundry.config import extras
from foundry.config.project import load_config
from foundry.errors import FoundryError, MissingExtraError
from foundry.progress import Reporter
from foundry.runtime.errors import ServerError
from foundry.serving import serve
from foundry.serving.options import Listening, ServeOptions
from foundry.serving.originals import offer_files

SEALS = "# Seals\n\nReplace the D40 seal yearly.\n"
WEEVIL = "# Zyzzyva\n\nA weevil of the tropics.\n"
TITLED = CONFIG.replace('"notes"', '"notes"\ntitle = "Wren"')
NO_ENGINE = CONFIG + '[store]\nengine = "qdrant"\n'
NOT_RELOADING = CONFIG + "[server]\nreloading = false\n"
ANY_PORT = ServeOptions(port=0)

pytestmark = pytest.mark.usefixtures("forked_servers")


@pytest.fixture(autouse=True)
def quick_servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("API_TOKENS", "QDRANT_URL"):
        monkeypatch.delenv(name, raising=False)
    with unformatted():
        yield


@pytest.fixture
def project(make_project: MakeProject) -> Project:
    return make_project({"a.md": SEALS})


class Served:
    """A project that is built and served, step by step."""

    def __init__(
        self, project: Project, options: ServeOptions = ANY_PORT, *, builds: int | None = None
    ) -> None:
        self.project = project
        self.said: list[str] = []
        outcomes = islice(iter(self._build, None), builds)
        steps = serve.serve_builds(project.root, outcomes, options, self.said.append)
        self._steps = cast("Generator[object, None, None]", steps)

    def _build(self) -> BuildResult | Exception:
        try:
            return pipeline.build(self.project.root, Reporter(quiet=True), BuildOptions())
        except (FoundryError, ServerError, OSError) as error:
            return error

    def configure(self, config: str) -> None:
        (self.project.root / "foundry.toml").write_text(config)

    def write(self, name: str, text: str) -> None:
        (self.project.root / "sources" / name).write_text(text)

    def step(self, kind: type[Any]) -> Any:
        """Wait for the next step, which must be of this kind."""
        found = next(self._steps)
        assert isinstance(found, kind), found
        return found

    def listen(self) -> str:
        """Build, and return the address of the server that starts."""
        self.step(BuildResult)
        return str(self.step(Listening).address)

    def close(self) -> None:
        self._steps.close()


Serve = Callable[..., Served]
StandIn = Callable[[str], list["subprocess.Popen[str]"]]


@pytest.fixture
def begin(project: Project) -> Iterator[Serve]:
    """Serve the project until the end of a test."""
    begun: list[Served] = []

    def start(options: ServeOptions = ANY_PORT, *, builds: int | None = None) -> Served:
        begun.append(Served(project, options, builds=builds))
        return begun[-1]

    yield start
    for served in begun:
        served.close()


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list["subprocess.Popen[str]"]]:
    """Run a few lines of Python instead of servers; returns their processes."""
    processes: list[subprocess.Popen[str]] = []

    def put(code: str) -> list["subprocess.Popen[str]"]:
        monkeypatch.setattr(serve, "begin_server", lambda *_: begin(code))
        return processes

    def begin(code: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-I", "-S", "-c", f"import sys, time\n{code}"]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
        )
        processes.append(process)
        return process

    return put


LISTENS = "print('Serving it on http://127.0.0.1:1', file=sys.stderr, flush=True)\n"


def test_log_lines_of_a_server_are_passed_on_as_text(begin: Serve, stand_in: StandIn) -> None:
    lines = [
        '{"time": "now", "level": "warning", "logger": "index", "message": "slow", "seconds": 3}',
        '{"no": "message"}',
        "{cut off",
    ]
    more = ['["a list"]', "words"]
    begun = f"for line in {lines!r}: print(line, file=sys.stderr)\n"
    going_on = f"for line in {more + lines!r}: print(line, file=sys.stderr)\n"
    stand_in(f"{begun}{LISTENS}{going_on}sys.stderr.flush(); sys.stdin.read()")
    served = begin()
    served.listen()
    told = ["slow seconds=3", *lines[1:]]
    wait_until(lambda: served.said == [*told, *more, *told])


def test_warnings_of_a_server_are_passed_on(begin: Serve, stand_in: StandIn) -> None:
    stand_in("sys.exit('notes: no room\\nbuy a disk')")
    with pytest.raises(FoundryError, match=r"^no room$") as caught:
        begin().listen()
    assert caught.value.hint == "buy a disk"


def test_a_server_ends_when_its_input_does(begin: Serve, stand_in: StandIn) -> None:
    processes = stand_in(f"{LISTENS}sys.stdin.read(); sys.exit(7)")
    served = begin()
    served.listen()
    served.close()
    assert [process.returncode for process in processes] == [7]


def test_a_server_that_does_not_end_is_killed(
    begin: Serve, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "STOP_SECONDS", 0.05)
    processes = stand_in(f"{LISTENS}time.sleep(600)")
    served = begin()
    served.listen()
    served.close()
    assert [process.returncode for process in processes] == [-signal.SIGKILL]


DEATH = "notes: the server has exited with 3: "


def test_a_server_that_dies_ends_the_wait_for_it(begin: Serve, stand_in: StandIn) -> None:
    stand_in(f"{LISTENS}print('Out of memory', file=sys.stderr); time.sleep(0.1); sys.exit(3)")
    served = begin(builds=1)
    served.listen()
    with pytest.raises(FoundryError, match=f"{DEATH}Out of memory") as caught:
        served.step(object)
    assert caught.value.hint == "start it again: foundry serve"


def test_a_dead_server_is_reported_after_a_build_if_interrupts_are_ignored(
    begin: Serve, stand_in: StandIn
) -> None:
    stand_in(f"{LISTENS}sys.exit(3)")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        served = begin()
        served.listen()
        with pytest.raises(FoundryError, match=f"{DEATH}it printed nothing"):
            wait_until(lambda: not served.step(BuildResult))
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_server_reloads_a_new_index(begin: Serve) -> None:
    served = begin()
    address = served.listen()
    assert found_paths(address, "seal") == ["a.md"]
    served.write("b.md", WEEVIL)
    served.step(BuildResult)
    wait_until(lambda: found_paths(address, "weevil") == ["b.md"])
    # The file may have been written during a build, which another one then follows.
    served.step(BuildResult)
    served.close()
    assert not answers(address)


def test_a_server_without_reloading_is_restarted_for_a_new_index(begin: Serve) -> None:
    served = begin()
    served.configure(NOT_RELOADING)
    address = served.listen()
    served.step(BuildResult)
    served.write("b.md", WEEVIL)
    served.step(BuildResult)
    assert served.step(Listening) == Listening(address, again=False)
    assert found_paths(address, "weevil") == ["b.md"]


def test_a_changed_configuration_starts_another_server_at_the_same_address(begin: Serve) -> None:
    served = begin()
    served.step(BuildResult)
    first = served.step(Listening)
    assert not first.again
    for title in ("Wren", "Wren the second"):
        served.configure(TITLED.replace("Wren", title))
        served.step(BuildResult)
        assert served.step(Listening) == Listening(first.address, again=True)
        assert title_of(first.address) == title


def test_the_previous_server_is_restored_if_a_new_one_cannot_start(begin: Serve) -> None:
    served = begin()
    address = served.listen()
    served.configure(NO_ENGINE)
    served.step(BuildResult)
    assert "QDRANT_URL" in str(served.step(FoundryError))
    assert found_paths(address, "seal") == ["a.md"]
    # A failed server is not started again until something changes.
    served.step(BuildResult)
    served.step(BuildResult)
    served.configure(TITLED)
    assert served.step(Listening) == Listening(address, again=True)
    assert title_of(address) == "Wren"


def test_a_missing_library_is_reported_before_the_server_is_stopped(
    begin: Serve, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = stand_in(f"{LISTENS}sys.stdin.read()")
    served = begin()
    served.listen()
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    served.configure(NO_ENGINE)
    served.step(BuildResult)
    assert "qdrant_client, which is not installed" in str(served.step(MissingExtraError))
    assert [process.poll() for process in processes] == [None]


def test_serving_ends_if_the_first_server_cannot_start(begin: Serve) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        served = begin(ServeOptions(port=taken.getsockname()[1]))
        with pytest.raises(FoundryError, match=r"cannot listen on 127\.0\.0\.1 port"):
            served.listen()


def test_a_failed_build_does_not_affect_the_server(begin: Serve) -> None:
    served = begin()
    address = served.listen()
    for config in (CONFIG + "[serch]\n", TITLED + "[chunking]\nmax_chars = 1\n"):
        served.configure(config)
        assert "foundry.toml" in str(served.step(FoundryError))
        assert found_paths(address, "seal") == ["a.md"]
    sources = served.project.root / "sources"
    sources.rename(sources.with_name("elsewhere"))
    served.configure(TITLED)
    served.step(FoundryError)
    served.step(FoundryError)
    assert title_of(address) == "notes"


def test_an_earlier_index_is_served_if_the_first_build_fails(
    begin: Serve, project: Project
) -> None:
    project.succeed("build", "--quiet")
    (project.root / "sources" / "a.md").unlink()
    served = begin()
    assert "no documents to index" in str(served.step(FoundryError))
    assert found_paths(served.step(Listening).address, "seal") == ["a.md"]


def test_nothing_is_served_without_any_index(begin: Serve) -> None:
    served = begin()
    (served.project.root / "sources" / "a.md").unlink()
    with pytest.raises(FoundryError, match="no documents to index"):
        served.step(object)


def test_the_requested_port_is_used(begin: Serve) -> None:
    named, configured = free_port(), free_port()
    config = f"{CONFIG}[server]\nport = {configured}\n"
    for options, port in ((ServeOptions(port=named), named), (ServeOptions(), configured)):
        served = begin(options)
        served.configure(config)
        assert served.listen() == f"http://127.0.0.1:{port}"
        served.configure(config.replace('"notes"', f'"notes"\ntitle = "At {port}"'))
        assert served.listen() == f"http://127.0.0.1:{port}"
        served.close()


def test_an_open_address_needs_a_token_or_the_option(begin: Serve) -> None:
    with pytest.raises(FoundryError, match="this server does not require a token"):
        begin(ServeOptions("0.0.0.0", 0)).listen()
    port = begin(ServeOptions("0.0.0.0", 0, insecure_no_auth=True)).listen().rpartition(":")[2]
    assert answers(f"http://127.0.0.1:{port}")


def test_the_option_and_tokens_exclude_each_other(
    begin: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKENS", "a" * 32)
    with pytest.raises(FoundryError, match="--insecure-no-auth does nothing"):
        begin(ServeOptions("127.0.0.1", 0, insecure_no_auth=True)).listen()


def test_files_can_be_opened_on_this_machine(begin: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORIGINALS", raising=False)
    served = begin()
    address = served.listen()
    (hit,) = get(f"{address}/search?q=seal")["results"]
    assert get(f"{address}/originals") == {"sources": [hit["source"]]}
    with urllib.request.urlopen(f"{address}/originals/{hit['document_id']}") as answer:
        assert answer.read().decode() == SEALS
    stranger = urllib.request.Request(f"{address}/originals", headers={"Host": "example.org"})
    with pytest.raises(urllib.error.HTTPError, match="421"):
        urllib.request.urlopen(stranger)


@pytest.mark.parametrize(
    ("host", "config", "variable"),
    [
        ("0.0.0.0", CONFIG, None),
        ("127.0.0.1", CONFIG, "/srv"),
        (
            "127.0.0.1",
            f"{CONFIG}[server]\npage = false\nchat = false\nmcp = false\ndocuments = false\n",
            None,
        ),
    ],
)
def test_files_are_not_offered_to_other_machines_or_if_turned_off(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    config: str,
    variable: str | None,
) -> None:
    monkeypatch.delenv("ORIGINALS", raising=False)
    if variable is not None:
        monkeypatch.setenv("ORIGINALS", variable)
    (project.root / "foundry.toml").write_text(config)
    loaded = load_config(project.root)
    assert offer_files(loaded, host) == (loaded, {})
