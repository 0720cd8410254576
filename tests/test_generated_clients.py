"""Clients generated from a server's OpenAPI document: a search, a chat, a stream."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from conftest import CONFIG, write_project
from language_models import LanguageModel, answer, language_model
from node_packages import NODE, node_modules
from servers import in_checkout, serving

from foundry.runtime.chat.openai_schemas import (
    ChatCompletion,
    ChatCompletionChunk,
    EmbeddingList,
    ModelDescription,
    ModelList,
    OpenAiError,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("formatted_once")]

TOKEN = "t" * 40
TEXT = "# Pump\n\nIt needs a new seal every year.\n"

PYTHON = """
import json, sys
from client import AuthenticatedClient
from client.api.chat import answer_chat_chat_post
from client.api.openai import complete_chat_v1_chat_completions_post as complete_chat
from client.api.openai import list_models_v1_models_get as list_models
from client.api.search import search_by_body_search_post as search_by_body
from client.models import (
    ChatCompletion, ChatRequest, ChatTurn, ChatTurnRole, CompletionRequest, CompletionTurn,
    CompletionTurnRole, ModelList, ProblemDocument, SearchBody, SearchResponse,
)

address, token = sys.argv[1:]
with AuthenticatedClient(address, token) as client:
    found = search_by_body.sync(client=client, body=SearchBody("new seal"))
    assert isinstance(found, SearchResponse)
    print(json.dumps(found.results[0].text))
    turn = ChatTurn(content="What does the pump need?", role=ChatTurnRole.USER)
    stream = answer_chat_chat_post.sync(client=client, body=ChatRequest([turn]))
    assert isinstance(stream, str)
    print(json.dumps(stream))
    models = list_models.sync(client=client)
    assert isinstance(models, ModelList)
    asked = CompletionTurn(content=turn.content, role=CompletionTurnRole.USER)
    request = CompletionRequest(messages=[asked], model=models.data[0].id)
    whole = complete_chat.sync(client=client, body=request)
    assert isinstance(whole, ChatCompletion)
    print(json.dumps(whole.choices[0].message.content))
    refused = search_by_body.sync(client=client, body=SearchBody(" "))
    assert isinstance(refused, ProblemDocument)
    print(json.dumps(refused.status))
"""

TYPESCRIPT = """
import createClient from "openapi-fetch";
import type { components, paths } from "./api.ts";

const [address, token] = process.argv.slice(2);
const client = createClient<paths>({
  baseUrl: address,
  headers: { Authorization: `Bearer ${token}` },
});
const say = (value: unknown) => console.log(JSON.stringify(value));

const found = await client.POST("/search", { body: { query: "new seal", top_k: 3 } });
say(found.data!.results[0]!.text);

const messages = [{ role: "user" as const, content: "What does the pump need?" }];
const chat = await client.POST("/chat", { body: { messages }, parseAs: "stream" });
let said = "";
for await (const piece of chat.data!.pipeThrough(new TextDecoderStream())) said += piece;
say(said);

const models = await client.GET("/v1/models");
const body = { model: models.data!.data[0]!.id, messages };
const whole = await client.POST("/v1/chat/completions", { body });
// A string is the stream, for which nobody has asked.
if (typeof whole.data === "string") throw new Error(whole.data);
say(whole.data!.choices[0]!.message.content);

const refused = await client.POST("/search", { body: { query: " " } });
const problem: components["schemas"]["ProblemDocument"] = refused.error!;
say(problem.status);
"""

STRICT = {
    "compilerOptions": {
        "allowImportingTsExtensions": True,
        "lib": ["ES2024", "DOM", "DOM.AsyncIterable"],
        "module": "nodenext",
        "noEmit": True,
        "strict": True,
        "target": "es2024",
        "types": [],
        "noUncheckedIndexedAccess": True,
    },
    "files": ["client.ts", "process.d.ts"],
}


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = f"{CONFIG}\n[server]\nopenai = true\nlanguage_model = true\n"
    root = tmp_path_factory.mktemp("clients")
    return write_project(root, {"pump.md": TEXT}, config, built=True).export()


@pytest.fixture(scope="module")
def model() -> Iterator[LanguageModel]:
    with language_model(answer("A new seal", " every year. [1]")) as model:
        yield model


@pytest.fixture(scope="module")
def address(export: Path, model: LanguageModel) -> Iterator[str]:
    llm = {"LLM_BASE_URL": model.base_url, "LLM_MODEL": "test"}
    with serving(in_checkout(export), API_TOKENS=TOKEN, **llm) as address:
        yield address


@pytest.fixture(scope="module")
def document(address: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("document") / "openapi.json"
    file.write_bytes(send(f"{address}/openapi.json")[1])
    return file


def send(url: str, body: object = None) -> tuple[int, bytes]:
    """Return status and body of a response."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(url, content, headers)) as reply:
            return reply.status, reply.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()


def is_within(part: Any, whole: Any) -> bool:
    """Return whether every field of one JSON value is in another, with the same value."""
    if isinstance(part, dict):
        return all(name in whole and is_within(part[name], whole[name]) for name in part)
    if isinstance(part, list):
        return len(part) == len(whole) and all(map(is_within, part, whole))
    return bool(part == whole)


def run(command: list[str | Path], folder: Path, **variables: str) -> str:
    # The command runs outside this repository, because generators and compilers look for its
    # settings.
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **variables}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check(said: str) -> None:
    """Check the output of a client: a passage, a stream, an answer, the status of a problem."""
    passage, stream, whole, status = map(json.loads, said.splitlines())
    assert "new seal every year" in passage
    events = re.findall(r"event: (\w+)\ndata: (.*)\n\n", stream)
    names = [name for name, _ in events]
    assert names[0] == "sources" and names[-1] == "done" and "delta" in names
    text = "".join(json.loads(data)["text"] for name, data in events if name == "delta")
    assert text == "A new seal every year. [1]"
    # OpenAI's clients show no sources, so the text lists them.
    assert whole.startswith(f"{text}\n\n[1] Pump: ")
    assert status == 422


def test_client_of_openapi_python_client(address: str, document: Path, tmp_path: Path) -> None:
    tools = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    generate = "from openapi_python_client.cli import app; app()"
    options = ["--path", document, "--output-path", tmp_path / "client", "--meta", "none"]
    command = [sys.executable, "-c", generate, "generate", *options, "--fail-on-warning"]
    run(command, tmp_path, **tools)
    check(run([sys.executable, "-c", PYTHON, address, TOKEN], tmp_path))


def test_client_of_openapi_typescript(address: str, document: Path, tmp_path: Path) -> None:
    modules = node_modules("openapi")
    (tmp_path / "node_modules").symlink_to(modules)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "tsconfig.json").write_text(json.dumps(STRICT))
    (tmp_path / "process.d.ts").write_text("declare const process: { argv: string[] };\n")
    (tmp_path / "client.ts").write_text(TYPESCRIPT)
    generate = [NODE, modules / "openapi-typescript/bin/cli.js", document, "--output", "api.ts"]
    # By default, the generator treats request fields that have a default as required.
    run([*generate, "--default-non-nullable", "false"], tmp_path)
    run([NODE, modules / "typescript/bin/tsc", "--project", "tsconfig.json"], tmp_path)
    check(run([NODE, "client.ts", address, TOKEN], tmp_path))


def test_responses_have_all_described_fields(address: str, document: Path) -> None:
    def ask(path: str, body: object = None) -> tuple[int, bytes]:
        return send(address + path, body)

    def same(kind: Any, content: str | bytes) -> None:
        said = json.loads(content)
        assert is_within(said, kind.model_validate(said).model_dump(mode="json"))

    messages = [{"role": "user", "content": "What does the pump need?"}]
    path = "/v1/chat/completions"
    same(ModelList, ask("/v1/models")[1])
    same(ModelDescription, ask("/v1/models/notes")[1])
    assert ask("/v1/models/other")[0] == 404
    same(OpenAiError, ask("/v1/models/other")[1])
    same(OpenAiError, ask(path, {"model": "x", "messages": []})[1])
    same(ChatCompletion, ask(path, {"model": "x", "messages": messages})[1])
    same(
        ChatCompletion,
        ask(path, {"model": "x", "messages": [{"role": "user", "content": "xyzzy"}]})[1],
    )
    options = {"stream": True, "stream_options": {"include_usage": True}}
    stream = ask(path, {"model": "x", "messages": messages, **options})[1].decode()
    *chunks, last = re.findall(r"data: (.*)\n\n", stream)
    assert last == "[DONE]" and len(chunks) > 3
    for chunk in chunks:
        same(ChatCompletionChunk, chunk)
    for encoding in ("float", "base64"):
        body = {"model": "x", "input": ["a pump", "a seal"], "encoding_format": encoding}
        same(EmbeddingList, ask("/v1/embeddings", body)[1])


def test_the_document_names_server_and_authentication(export: Path) -> None:
    place = "https://docs.example.com/search"
    with serving(in_checkout(export), API_TOKENS=TOKEN, PUBLIC_URL=place) as address:
        found = json.loads(send(f"{address}/openapi.json")[1])
    assert found["servers"] == [{"url": place}]
    assert found["security"] == [{"token": []}]
    scheme = found["components"]["securitySchemes"]["token"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert found["paths"]["/healthz"]["get"]["security"] == []
    assert "security" not in found["paths"]["/search"]["post"]
    with serving(in_checkout(export)) as address:
        found = json.loads(send(f"{address}/openapi.json")[1])
    assert {"servers", "security"}.isdisjoint(found)
    assert "securitySchemes" not in found["components"]


def test_the_document_has_one_problem_schema_and_describes_streams(
    document: Path,
) -> None:
    text = document.read_text()
    found = json.loads(text)
    assert found["openapi"] == "3.1.0"
    assert "itemSchema" not in text
    problems, streams = set(), {}
    for path, operations in found["paths"].items():
        for operation in operations.values():
            for kind, content in operation["responses"]["default"]["content"].items():
                problems.add((kind, path.startswith("/v1/"), content["schema"]["$ref"]))
            for kind, content in operation["responses"]["200"]["content"].items():
                if kind == "text/event-stream":
                    streams[path] = content["schema"]
    schemas = "#/components/schemas"
    assert problems == {
        ("application/problem+json", False, f"{schemas}/ProblemDocument"),
        ("application/json", True, f"{schemas}/OpenAiError"),
    }
    assert {path: stream["type"] for path, stream in streams.items()} == {
        "/chat": "string",
        "/v1/chat/completions": "string",
    }
    for name in ("Sources", "Delta", "CheckedDone", "Failed"):
        assert name in streams["/chat"]["description"]
        assert name in found["components"]["schemas"]
    assert "ChatCompletionChunk" in streams["/v1/chat/completions"]["description"]
