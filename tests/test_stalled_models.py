"""Exports whose language model stalls: how they stop, and when they bypass the model."""

import http.client
import json
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from conftest import Project
from language_models import Call, LanguageModel, Reply, answer, language_model
from servers import alone, get, in_checkout, post, serving
from test_chat_export import QUESTION, ask, conversation, open_post, text_of
from test_serving import Served
from waiting import wait_until

pytestmark = pytest.mark.usefixtures("formatted_once")

HANDBOOK = Path(__file__).parent.parent / "examples" / "handbook"
STOPPING = "The server is stopping; try again in a moment."
AT_PRESENT = "the language model is not responding"
Script = Callable[[Call, Reply], None]


def stall(call: Call, reply: Reply) -> None:
    """Accept the request, and send nothing."""
    reply.begin()
    reply.wait(3600)


def stall_midway(call: Call, reply: Reply) -> None:
    """Begin a response, and stop midway."""
    reply.begin()
    reply.text("She tends the flames. ")
    reply.wait(3600)


def stall_unread(call: Call, reply: Reply) -> None:
    """Do not even accept the connection."""
    reply.wait(3600)


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("stalled") / "handbook"
    shutil.copytree(HANDBOOK, root, ignore=shutil.ignore_patterns(".foundry", "dist"))
    with (root / "foundry.toml").open("a") as config:
        config.write(
            "\n[server]\nopenai = true\nlanguage_model = true\n" "chat_requests_per_minute = 0\n"
        )
    project = Project(root)
    project.succeed("build", "--quiet")
    project.export()
    return root / "dist" / "handbook"


@pytest.fixture
def model() -> Iterator[LanguageModel]:
    with language_model() as model:
        yield model


def patient(model: LanguageModel) -> dict[str, str]:
    """Return the environment of a server whose longest timeout is that of its model."""
    seconds = {f"LLM_{name}_SECONDS": "3600" for name in ("FIRST_TOKEN", "PAUSE", "TOTAL")}
    return {"LLM_BASE_URL": model.base_url, "LLM_MODEL": "test", **seconds}


def body_of(address: str, path: str, body: object) -> tuple[int, str]:
    """Return status and body of a response, which must be complete HTTP."""
    with closing(http.client.HTTPConnection(address.partition("//")[2], timeout=120)) as client:
        client.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = client.getresponse()
        return response.status, response.read().decode()


@pytest.mark.parametrize(
    ("workers", "script", "number"),
    [
        (1, stall, signal.SIGTERM),
        (2, stall_midway, signal.SIGINT),
    ],
)
def test_a_stop_ends_chats_with_an_event(
    export: Path, model: LanguageModel, workers: int, script: Script, number: signal.Signals
) -> None:
    model.script = script
    command = [*alone(export), "serve", "--port", "0", "--grace", "5", "--workers", str(workers)]
    served = Served(command, **patient(model))
    asked = conversation(QUESTION)
    completion = {**asked, "model": "any"}
    with ThreadPoolExecutor() as pool:

        def begin(path: str, body: object) -> Future[tuple[int, str]]:
            return pool.submit(body_of, served.url, path, body)

        chat = begin("/chat", asked)
        stream = begin("/v1/chat/completions", {**completion, "stream": True})
        whole = begin("/v1/chat/completions", completion)
        model.wait_for_calls(3)
        assert served.stop(number) == 0
    status, said = chat.result()
    assert status == 200 and "event: sources" in said
    assert said.endswith(f'event: error\ndata: {{"message":"{STOPPING}"}}\n\n')
    status, said = stream.result()
    error = {"message": STOPPING, "type": "server_error", "param": None, "code": None}
    assert status == 200
    assert json.loads(said.split("data: ")[-1]) == {"error": error}
    status, said = whole.result()
    assert (status, json.loads(said)) == (503, {"error": error})
    assert served.said("error") == []
    assert [line for line in served.log if "exception" in line] == []


def test_a_stop_lets_a_running_answer_finish(export: Path, model: LanguageModel) -> None:
    goes_on = threading.Event()

    def wait_and_finish(call: Call, reply: Reply) -> None:
        reply.begin()
        reply.text("She tends ")
        assert goes_on.wait(120)
        reply.text("the flames. [1]")
        reply.finish()

    model.script = wait_and_finish
    served = Served([*alone(export), "serve", "--port", "0"], **patient(model))
    with ThreadPoolExecutor() as pool:
        chat = pool.submit(ask, served.url, conversation(QUESTION))
        model.wait_for_calls(1)
        served.process.send_signal(signal.SIGTERM)
        goes_on.set()
        events = chat.result()
    assert events[-1][0] == "done"
    assert text_of(events).endswith("[1]")
    assert served.stop() == 0


@pytest.mark.parametrize("script", [stall, stall_midway, stall_unread])
def test_a_stalled_model_is_bypassed_until_it_answers_a_probe(
    export: Path, model: LanguageModel, script: Script
) -> None:
    model.script = script
    # Only one limit is small, because a slow machine might exceed the other one too.
    limit = "PAUSE" if script is stall_midway else "FIRST_TOKEN"
    hasty = {f"LLM_{limit}_SECONDS": "1"}
    with serving(in_checkout(export), **{**patient(model), **hasty}) as address:
        for _ in range(3):
            name, told = ask(address, conversation(QUESTION))[-1]
            if script is stall_midway:
                assert (name, told) == ("error", {"message": "The language model took too long."})
            else:
                assert (told["reason"], told["mode"]) == ("model_failed", "extractive")
        assert len(model.calls) == 3
        events = ask(address, conversation(QUESTION))
        told = events[-1][1]
        assert (told["reason"], told["mode"]) == ("model_stalled", "extractive")
        assert AT_PRESENT in told["notice"]
        assert text_of(events).endswith(told["notice"])
        assert told["cited"]
        # The model is not asked to rewrite a query either.
        events = ask(address, conversation("Lamps?", "None.", "explain that more simply"))
        assert events[0][1]["query_notice"] == "The language model is not responding."
        # OpenAI clients get the same notice.
        whole = post(f"{address}/v1/chat/completions", {**conversation(QUESTION), "model": "any"})
        assert (whole["reason"], whole["mode"]) == ("model_stalled", "extractive")
        assert AT_PRESENT in whole["choices"][0]["message"]["content"]
        # Later calls were probes, for which no question waits.
        probes = [call.body["messages"] for call in model.calls[3:]]
        assert all(QUESTION not in json.dumps(messages) for messages in probes)
        model.script = answer("She tends the flames. [1]")

        def is_asked_again() -> bool:
            return bool(ask(address, conversation(QUESTION))[-1][1]["reason"] == "default")

        wait_until(is_asked_again)
        assert not get(f"{address}/search?q=flames")["degraded"]


def test_probes_delay_no_question(export: Path, model: LanguageModel) -> None:
    model.script = stall
    hasty = {"LLM_FIRST_TOKEN_SECONDS": "1"}
    with serving(in_checkout(export), **{**patient(model), **hasty}) as address:
        for _ in range(3):
            ask(address, conversation(QUESTION))

        def is_probed() -> bool:
            assert ask(address, conversation(QUESTION))[-1][1]["reason"] == "model_stalled"
            return len(model.calls) == 4

        wait_until(is_probed)
        for _ in range(5):
            assert ask(address, conversation(QUESTION))[-1][1]["reason"] == "model_stalled"


def test_queued_calls_do_not_count_as_model_failures(export: Path, model: LanguageModel) -> None:
    goes_on = threading.Event()

    def talk_on(call: Call, reply: Reply) -> None:
        reply.begin()
        while not goes_on.is_set():
            reply.text("She tends the flames. [1] ")
            reply.wait(0.1)
        reply.text("She does. [1]")
        reply.finish()

    model.script = talk_on
    limits = {"LLM_FIRST_TOKEN_SECONDS": "1", "LLM_CONCURRENCY": "1"}
    with serving(in_checkout(export), **{**patient(model), **limits}) as address:
        with open_post(address, "/chat", conversation(QUESTION)) as first:
            assert first.read(1)
            model.wait_for_calls(1)
            for _ in range(4):
                told = ask(address, conversation(QUESTION))[-1][1]
                assert told["reason"] == "model_failed"
                assert "is at its limit of concurrent calls" in told["notice"]
            goes_on.set()
            first.read()
        assert ask(address, conversation(QUESTION))[-1][1]["reason"] == "default"
        assert len(model.calls) == 2


def test_immediate_failures_do_not_bypass_the_model(export: Path, model: LanguageModel) -> None:
    model.script = lambda _, reply: reply.refuse(401)
    with serving(in_checkout(export), **patient(model)) as address:
        for _ in range(5):
            assert ask(address, conversation(QUESTION))[-1][1]["reason"] == "model_failed"
        assert len(model.calls) == 5
