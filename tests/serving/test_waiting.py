"""The placeholder server that responds until the first index is built."""

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest
from conftest import MakeProject
from ports import free_port

from foundry import pipeline
from foundry.building.options import BuildResult
from foundry.progress import Reporter
from foundry.runtime.errors import ServerError
from foundry.serving.options import ServeOptions
from foundry.serving.waiting import Waiting


@pytest.fixture
def waiting() -> Iterator[Waiting]:
    with Waiting(socket.create_server(("127.0.0.1", 0))) as found:
        yield found


def ask(port: int, method: str = "GET", body: bytes = b"", **headers: str) -> tuple[int, str, str]:
    """Return the status, the header Retry-After, and the body of a response."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request(method, "/search?q=a", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers["Retry-After"], answer.read().decode()


def test_programs_and_browsers_get_the_progress_of_the_build(waiting: Waiting) -> None:
    reporter = waiting.following(Reporter(quiet=True))
    with reporter.step("Reading", "documents", 1_200) as step:
        step.advance(7)
        status, later, said = ask(waiting.port)
        assert (status, later) == (503, "1")
        assert json.loads(said)["detail"] == (
            "The index is being built. Reading: 7 of 1,200 documents."
        )
        for method, body in (("POST", b"{}" * 9_000), ("PATCH", b""), ("OPTIONS", b"")):
            assert ask(waiting.port, method, body) == (503, "1", said)
        assert ask(waiting.port, "HEAD")[::2] == (503, "")
        status, _, page = ask(waiting.port, Accept="text/html,*/*")
        assert (status, "Reading: 7 of 1,200 documents." in page) == (503, True)
    with reporter.step("Looking <at>", "pages") as step:
        step.advance(2)
        assert "Looking &lt;at&gt;: 2 pages." in ask(waiting.port, Accept="text/html")[2]


def test_a_silent_client_does_not_block_others(waiting: Waiting) -> None:
    with socket.create_connection(("127.0.0.1", waiting.port)):
        assert ask(waiting.port)[0] == 503


def test_the_port_is_free_after_closing(waiting: Waiting) -> None:
    waiting.close()
    waiting.close()
    with socket.create_server(("127.0.0.1", waiting.port)):
        pass


def test_a_port_in_use_is_reported_before_the_build(make_project: MakeProject) -> None:
    project = make_project({"a.md": "# Seals\n"})
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        events = pipeline.serve(
            str(project.root), Reporter(quiet=True), ServeOptions(port=port), print
        )
        with pytest.raises(ServerError, match=f"cannot listen on 127.0.0.1 port {port}") as failed:
            next(events)
    assert "choose another port with --port" in (failed.value.hint or "")
    assert not (project.root / ".foundry").exists()


def test_the_address_answers_while_the_index_is_built(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, port, told = make_project({"a.md": "# Seals\n"}), free_port(), []
    build = pipeline.build

    def ask_and_build(*arguments: object) -> BuildResult:
        told.append(ask(port)[:2])
        return build(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "build", ask_and_build)
    options = ServeOptions(port=port, watch=False)
    with closing(pipeline.serve(str(project.root), Reporter(quiet=True), options, print)) as events:
        assert isinstance(next(events), BuildResult)
        assert told == [(503, "1")]
        assert getattr(next(events), "address", "").endswith(f":{port}")
        assert ask(port)[0] == 200
