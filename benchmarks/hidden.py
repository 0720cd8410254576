"""Is a document with the query's identifier hidden? `python benchmarks/hidden.py`.

A seeded generator writes advisories, where several documents have one vulnerability: equal texts
below other titles, equal titles and texts (copies), equal sections of documents that differ
elsewhere, and revisions. Each identifier is searched for by itself and in two questions, through
the interfaces of a rendered server. A document that has it must be a result, or be named in
`also_at` of one, with its path, title and url. The last column counts the searches whose first
result is an older one of documents with an equal text.
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from common import build, load_server, machine, make_project, row
from starlette.testclient import TestClient

IDENTIFIERS, TOP_K = 40, 100
QUERIES = ("{}", "which products does {} affect?", "{} remediation")
PRODUCTS = "router switch gateway phone camera printer scanner badge meter relay".split()
FAULTS = "overflow injection traversal disclosure race downgrade leak confusion".split()
KINDS = ("other titles", "copies", "many copies", "equal sections", "revisions")
LIMITS = "[server]\nchat_requests_per_minute = 0\n"


def advisories(random: Random) -> Iterator[dict[str, Any]]:
    """The rows of a table of documents: ids `kind-number-place`, in no order."""
    for number in range(IDENTIFIERS):
        name = f"CVE-2031-{10_000 + number}"
        fault, kind = random.choice(FAULTS), KINDS[number % len(KINDS)]
        body = f"{name} is a {fault} in the parser. An attacker on the network can use {name}."
        count = {"many copies": 30, "equal sections": 8}.get(kind, random.randint(3, 9))
        for place in range(count):
            product = PRODUCTS[place % len(PRODUCTS)]
            title, text = f"Advisory on a {fault}", f"# Impact\n\n{body}\n"
            if kind == "other titles":
                title = f"{product.title()} {place}: {fault}"
            elif kind == "equal sections":
                text += f"\n# Products\n\nThe {product} of series {place * 7 + 3} is affected.\n"
            elif kind == "revisions":
                text += f"\n# History\n\nRevision {place} of {name} was published.\n"
            yield {
                "id": f"{kind.replace(' ', '-')}-{number}-{place}",
                "title": title,
                "text": text,
                "url": f"https://advisories.example/{number}/{place}",
                "modified": f"2031-{place % 12 + 1:02d}-{number % 28 + 1:02d}",
                "identifier": name,
            }


def shown(hits: list[dict[str, Any]]) -> set[str]:
    """The urls of the documents that are results, or named by one in full."""
    places = [place for hit in hits for place in hit.get("also_at", ())]
    named = [place for place in places if place["path"] and place["title"]]
    return {one["url"] for one in (*hits, *named)}


def ask_all(client: TestClient, query: str) -> dict[str, list[dict[str, Any]]]:
    """The results of each interface."""
    search = client.post("/search", json={"query": query, "top_k": TOP_K}).json()["results"]
    arguments = {"query": query, "top_k": TOP_K}
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search", "arguments": arguments},
    }
    headers = {"Accept": "application/json, text/event-stream"}
    answer = client.post("/mcp", json=call, headers=headers).text
    found = json.loads(answer[answer.index("{") :])["result"]["structuredContent"]["results"]
    messages = [{"role": "user", "content": query}]
    chat = client.post("/chat", json={"messages": messages, "top_k": 20})
    lines = [line.removeprefix("data: ") for line in chat.text.splitlines()]
    sources = json.loads(next(line for line in lines if line.startswith("{")))["sources"]
    return {"POST /chat": sources, "MCP": found, "POST /search": search}


def main() -> int:
    """Print what each interface hides; 1 if anything is hidden."""
    rows = [*advisories(Random("hidden"))]
    Random("order").shuffle(rows)
    asked: dict[str, list[dict[str, Any]]] = {}
    for one in rows:
        asked.setdefault(one["identifier"], []).append(one)
    hidden: Counter[tuple[str, str]] = Counter()
    older: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as work:
        table = Path(work) / "advisories.jsonl"
        table.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
        source = f'type = "records"\ntext_format = "markdown"\npath = {json.dumps(str(table))}'
        project = make_project(Path(work) / "project", source, LIMITS)
        result = build(project)
        load_server(project, "hidden_documents")
        app = import_module("hidden_documents.app").create_app()
        with TestClient(app, base_url="http://127.0.0.1:8000") as client:
            for name, those in asked.items():
                kind = KINDS[int(name[-2:]) % len(KINDS)]
                for query in QUERIES:
                    for door, hits in ask_all(client, query.format(name)).items():
                        urls = shown(hits)
                        hidden[kind, door] += sum(one["url"] not in urls for one in those)
                    newest = max(one["modified"] for one in those)
                    is_merged = kind in ("copies", "many copies", "equal sections")
                    first = next(hit for hit in hits if hit["url"] in {t["url"] for t in those})
                    older[kind] += is_merged and first["modified"] != newest
    print(machine())
    print(f"{len(rows)} documents, {len(rows) - result.documents} of them copies\n")
    doors = list(dict.fromkeys(door for _, door in hidden))
    row("documents that share an identifier", *doors, "the first is not the newest")
    row(*["---"] * (len(doors) + 2))
    for kind in KINDS:
        row(kind, *(hidden[kind, door] for door in doors), older[kind])
    return int(any(hidden.values()))


if __name__ == "__main__":
    sys.exit(main())
