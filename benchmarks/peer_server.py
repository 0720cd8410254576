"""The server that one would write in an afternoon: FastAPI with tantivy and its snippets.

`python peer_server.py FOLDER` serves POST /search on an index by `peers.build_tantivy`, and writes
its address to standard error.
"""

import socket
import sys
from pathlib import Path
from typing import Any

import tantivy
import uvicorn
from fastapi import FastAPI
from peers import TOP
from pydantic import BaseModel, Field


class Question(BaseModel):
    """A request."""

    query: str = Field(max_length=2_000)
    top_k: int = Field(TOP, ge=1, le=100)


class Hit(BaseModel):
    """A passage that was found."""

    score: float
    text: str
    snippet: str


class Answer(BaseModel):
    """The passages, best first."""

    results: list[Hit]


def create_app(folder: Path) -> FastAPI:
    """Create the application for an index."""
    index = tantivy.Index.open(str(folder))
    searcher = index.searcher()
    app = FastAPI()

    @app.post("/search")
    async def search(question: Question) -> Answer:
        parsed, _errors = index.parse_query_lenient(question.query, ["text"])
        snippets = tantivy.SnippetGenerator.create(searcher, parsed, index.schema, "text")
        results = []
        for score, place in searcher.search(parsed, question.top_k).hits:
            document = searcher.doc(place)
            snippet = snippets.snippet_from_doc(document).to_html()
            results.append(Hit(score=score, text=document.get_first("text"), snippet=snippet))
        return Answer(results=results)

    return app


def main() -> int:
    """Serve, and print the address."""
    # If the protocol is IPPROTO_TCP, asyncio sets TCP_NODELAY, so that it sends data without delay.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", file=sys.stderr, flush=True)
    config: Any = uvicorn.Config(create_app(Path(sys.argv[1])), log_level="warning")
    uvicorn.Server(config).run([listener])
    return 0


if __name__ == "__main__":
    sys.exit(main())
