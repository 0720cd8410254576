"""Small chunks are found, and every interface returns the larger passage around each."""

import asyncio
import json
import os
import subprocess
import urllib.request
from typing import Any

import pytest
from conftest import MakeProject, Project
from language_models import language_model
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from servers import get, in_checkout, post, serving

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

CONFIG = """
[project]
name = "plan"
[[sources]]
type = "folder"
path = "sources"
[chunking]
strategy = "parent"
max_chars = 100
parent_max_chars = 400
"""
PARTS = ("north", "south", "east", "west", "upper", "lower")
TEXT = "".join(
    f"# The {part} shaft\n\nThe ventilation plan covers fans and doors of the {part} shaft. Air"
    f" speed is measured daily at the {part} station. The foreman keeps the record for a year.\n\n"
    for part in PARTS
)
QUERY = "where is air speed measured in the east"


def build(make_project: MakeProject, options: str = "") -> Project:
    project = make_project({"plan.md": TEXT}, config=CONFIG + options)
    project.succeed("build")
    return project


def flat(text: str) -> str:
    return " ".join(text.split())


def test_passage_is_the_text_around_the_chunk(make_project: MakeProject) -> None:
    answer = build(make_project).ask(QUERY, "--top-k", "100")
    assert answer["results"]
    for hit in answer["results"]:
        place = hit["passage"]["position"]
        assert place["start"] <= hit["position"]["start"] < hit["position"]["end"] <= place["end"]
        assert flat(hit["passage"]["text"]) == flat(TEXT[place["start"] : place["end"]])
        assert hit["text"] in hit["passage"]["text"]
        assert len(hit["passage"]["text"]) > len(hit["text"])
        assert hit["passage"]["section"] == hit["section"]
        lines = TEXT.split("\n")[place["line_start"] - 1 : place["line_end"]]
        assert flat("\n".join(lines)) == flat(hit["passage"]["text"])


def test_lines_of_a_passage_cover_all_its_chunks(make_project: MakeProject) -> None:
    lines = [f"Air speed is measured daily at the {part} station by the foreman." for part in PARTS]
    text = "# Plan\n\n" + "\n\n".join(lines) + "\n\n# Other\n\nNothing of it.\n"
    project = make_project({"plan.md": text}, config=CONFIG.replace("400", "450"))
    project.succeed("build")
    hit = project.ask("air speed at the south station", "--top-k", "1")["results"][0]
    assert (hit["position"]["line_start"], hit["position"]["line_end"]) == (5, 5)
    end = text.index("\n\n# Other")
    assert hit["passage"]["position"] == {"start": 0, "end": end, "line_start": 1, "line_end": 13}


def test_each_passage_is_returned_once(make_project: MakeProject) -> None:
    answer = build(make_project).ask(QUERY, "--top-k", "3")
    starts = [hit["passage"]["position"]["start"] for hit in answer["results"]]
    assert len(starts) == len(set(starts)) == 3
    assert answer["results"][0]["section"] == ["The east shaft"]
    assert answer["stages"]["parents"]["merged"] >= 1


def test_other_strategies_have_no_passages(make_project: MakeProject) -> None:
    project = make_project({"plan.md": TEXT}, config=CONFIG.partition("[chunking]")[0])
    project.succeed("build")
    answer = project.ask(QUERY)
    assert all("passage" not in hit for hit in answer["results"])
    package = project.root / ".foundry" / "server" / "plan"
    assert not (package / "retrieval" / "stages" / "parents.py").exists()


def test_merged_known_items_are_not_findings(make_project: MakeProject) -> None:
    options = "[search.document_cap]\nhits = 1\n"
    project = make_project({"plan.md": TEXT, "copy.md": TEXT}, config=CONFIG + options)
    project.succeed("build")
    assert len(project.ask(QUERY)["results"]) == 1
    command = [*in_checkout(project.root / ".foundry" / "server"), "verify"]
    environment = {**os.environ, "INDEX_DIR": str(project.root / ".foundry" / "index")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_chat_and_fetch_return_the_passage(make_project: MakeProject) -> None:
    project = build(make_project, options="[server]\nlanguage_model = true\n")
    first = project.ask(QUERY)["results"][0]
    server = in_checkout(project.root / ".foundry" / "server")
    index = str(project.root / ".foundry" / "index")
    with (
        language_model() as model,
        serving(server, INDEX_DIR=index, LLM_BASE_URL=model.base_url, LLM_MODEL="m") as address,
    ):
        assert post(f"{address}/search", {"query": QUERY})["results"][0] == first
        sources = ask_chat(address)
        assert (sources[0]["id"], sources[0]["text"]) == (first["id"], first["text"])
        (call,) = model.calls
        assert first["passage"]["text"] in call.body["messages"][-1]["content"]
        fetched = asyncio.run(fetch(address, first["id"]))
        assert get(f"{address}/chunks/{first['id']}")["text"] == first["text"]
    assert fetched["text"] == first["passage"]["text"]
    assert fetched["metadata"]["section"] == first["section"]


def ask_chat(address: str) -> list[dict[str, Any]]:
    request = urllib.request.Request(
        f"{address}/chat",
        data=json.dumps({"messages": [{"role": "user", "content": QUERY}]}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=120) as reply:
        first = reply.read().decode().split("\n\n")[0].splitlines()
    sources = json.loads(first[1].removeprefix("data: "))["sources"]
    assert isinstance(sources, list)
    return sources


async def fetch(address: str, identifier: str) -> dict[str, Any]:
    async with Client(streamable_http_client(f"{address}/mcp")) as client:
        found = await client.call_tool("search", {"query": QUERY})
        assert found.structured_content["results"][0]["passage"]["text"]
        answer = await client.call_tool("fetch", {"id": identifier})
    content = answer.structured_content
    assert isinstance(content, dict)
    return content
