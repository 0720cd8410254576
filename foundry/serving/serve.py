"""Serves a project on this machine: runs its server, and replaces it after changes.

The server is a child process that reads the published index. The server reloads each version that a
build publishes. It is restarted if it cannot reload, or if foundry.toml now requires a different
server.
"""

import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from foundry.config.extras import of_build, of_server, require
from foundry.config.project import Config, load_config
from foundry.errors import FoundryError
from foundry.features.operation import Reloading
from foundry.indexing.versions import built_index, index_folder
from foundry.rendering.design import Design
from foundry.rendering.plan import plan_key
from foundry.rendering.query_encoder import choose_query_encoder
from foundry.runtime.errors import ServerError
from foundry.serving.options import Listening, ServeOptions, Watched
from foundry.serving.originals import offer_files
from foundry.serving.preview import render_preview
from foundry.serving.running import begin_server, explain_exit, find_address

FOLDERS = ("served-a", "served-b")
"""Used alternately, so that the previous server can be restarted if the new one fails."""

STOP_SECONDS = 15.0
"""How long a server may take to finish its requests."""

WAIT_SECONDS = 0.5
"""An interrupt is noticed within this time."""

Outcome = TypeVar("Outcome")
"""The result of a build, its exception, or what is watched."""


def begin_listening(config: Config, options: ServeOptions) -> socket.socket:
    """Return a socket that listens at the server's address.

    Raises MissingExtraError if a library that builds need is not installed, and ServerError for an
    invalid address or a port in use.
    """
    from foundry.runtime.web.access import TOKENS_HINT, read_tokens
    from foundry.runtime.web.process import PROXY_HINT, listen, resolve

    require(of_build(config, "local"))
    has_tokens, hint = False, PROXY_HINT
    if config.server.has_tokens:
        has_tokens, hint = bool(read_tokens()), TOKENS_HINT
    port = config.server.port if options.port is None else options.port
    is_open = options.insecure_no_auth
    address = resolve(options.host, port, hint, has_tokens=has_tokens, insecure_no_auth=is_open)
    return listen(*address, port)


def serve_builds(
    project: Path,
    outcomes: Iterable[Outcome],
    options: ServeOptions,
    say: Callable[[str], object],
    make_way: Callable[[], object] = lambda: None,
) -> Iterator[Outcome | FoundryError | ServerError | OSError | Listening]:
    """Yield all `outcomes`, and serve what builds have published, until interrupted.

    A failed build leaves the server unchanged; the first build may fail if there is an older index.
    `say` is called with lines of the server's log, from another thread. `make_way` is called before
    a server is started, to free its port. Raises FoundryError if the server cannot be started, or
    exits by itself.
    """
    with RunningServer(options, say, make_way) as server:
        for outcome in outcomes:
            if isinstance(outcome, Watched):
                yield outcome
                continue
            if isinstance(outcome, Exception) and not server.is_running:
                _require_index(project, outcome)
            yield outcome
            try:
                if not isinstance(outcome, Exception) or not server.is_running:
                    yield from server.follow(load_config(project))
            except (FoundryError, ServerError, OSError) as error:
                if not server.is_running:
                    raise
                yield error
        server.wait()


def _require_index(project: Path, failure: Exception) -> None:
    """Raise the build's failure, unless there is an older index."""
    try:
        built_index(load_config(project))
    except (FoundryError, ServerError, OSError):
        raise failure from None


@dataclass(frozen=True, slots=True)
class _Rendered:
    """A server rendered to `folder`."""

    folder: Path
    config: Config
    variables: dict[str, str]


class RunningServer:
    """The server process of a project, which ends with this context."""

    def __init__(
        self,
        options: ServeOptions,
        say: Callable[[str], object],
        make_way: Callable[[], object],
    ) -> None:
        self._options = options
        self._say, self._make_way = say, make_way
        self._port = options.port
        self._process: subprocess.Popen[str] | None = None
        self._relaying: threading.Thread | None = None
        self._rendered: _Rendered | None = None
        self._key = ""
        self._failure: FoundryError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            self._stop()
        finally:
            # The failure is raised instead of the exception that the interrupt caused.
            if self._failure is not None:
                raise self._failure from None

    @property
    def is_running(self) -> bool:
        """True if a server is running."""
        return self._process is not None and self._failure is None

    def follow(self, config: Config) -> Iterator[Listening]:
        """Start the server for `config`, on the port of the previous one if there is one.

        If the server for `config` is already running, nothing is done. If it cannot be started, the
        previous server is restarted and FoundryError is raised.
        """
        if self._failure is not None:
            raise self._failure
        manifest = built_index(config).manifest
        shown, variables = offer_files(config, self._options.host)
        design = Design.of(shown, choose_query_encoder(config, manifest))
        key = plan_key(design) + json.dumps(variables)
        if Reloading.name not in config.server.interfaces:
            key += manifest.version
        if key == self._key:
            return
        require(of_server(config, design.query_encoder.kind))
        before = self._rendered
        name = FOLDERS[before is not None and before.folder.name == FOLDERS[0]]
        rendered = _Rendered(render_preview(design, name), config, variables)
        # A server that cannot be started is tried once, not after each build.
        self._key = key
        self._stop()
        try:
            address = self._start(rendered)
        except FoundryError:
            if before is not None:
                self._start(before)
            raise
        yield Listening(address, again=before is not None and before.config != config)

    def wait(self) -> None:
        """Wait until the server, which must have been started, exits."""
        assert self._relaying is not None
        while self._relaying.is_alive():
            # An interrupt just before waiting for a lock does not end that wait.
            self._relaying.join(WAIT_SECONDS)

    def _start(self, rendered: _Rendered) -> str:
        """Start a server and return its address. Raises FoundryError with its output."""
        config, options = rendered.config, self._options
        port = config.server.port if self._port is None else self._port
        arguments = ["serve", "--host", options.host, "--port", str(port)]
        arguments += ["--insecure-no-auth"] if options.insecure_no_auth else []
        # The server gets the caller's whole environment. Unless LOG_LEVEL is set, it logs only
        # warnings and errors.
        environment = {"LOG_LEVEL": "warning", **os.environ, **rendered.variables}
        environment["INDEX_DIR"] = str(index_folder(config))
        self._make_way()
        process = begin_server(rendered.folder, config.package, arguments, environment)
        self._process = process
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            if address := find_address(line):
                self._port = int(address.rpartition(":")[2])
                self._rendered = rendered
                relay = threading.Thread(target=self._relay, args=(process, config), daemon=True)
                relay.start()
                self._relaying = relay
                return address
            if line.startswith("{"):
                self._say(_describe_log(line))
            else:
                said += line
        self._process = None
        # Leaving this block closes the pipes of the process.
        with process:
            raise explain_exit(config.project.name, process.wait(), said)

    def _relay(self, process: "subprocess.Popen[str]", config: Config) -> None:
        """Pass on what a server logs; if it exits by itself, interrupt this process."""
        assert process.stderr is not None
        said = ""
        with process.stderr:
            for line in process.stderr:
                said = _describe_log(line)
                self._say(said)
        code = process.wait()
        if self._process is process:
            self._failure = FoundryError(
                f"{config.project.name}: the server has exited with {code}:"
                f" {said or 'it printed nothing'}",
                hint="start it again: foundry serve",
            )
            os.kill(os.getpid(), signal.SIGINT)

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        try:
            process.stdin.close()
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            process.kill()
            process.wait()


def _describe_log(line: str) -> str:
    """Format a line of a server's log for people."""
    try:
        values = json.loads(line)
        message = values.pop("message")
    except (ValueError, LookupError, AttributeError, TypeError):
        return line.rstrip()
    fields = [f"{name}={value}" for name, value in values.items() if name not in _COMMON]
    return " ".join([str(message), *fields])


_COMMON = frozenset({"time", "level", "logger"})
