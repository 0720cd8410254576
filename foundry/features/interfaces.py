"""Declares what a server answers through besides the search over HTTP."""

from collections.abc import Collection, Iterator
from typing import ClassVar

from pydantic import Field

from foundry.features.access import Access
from foundry.features.feature import HTTPX, Table
from foundry.features.operation import (
    Callers,
    CommandLine,
    Documents,
    Filters,
    Hooks,
    Interface,
    Monitoring,
    Reloading,
    Snippets,
    Workers,
    switch,
)
from foundry.features.snippet import Place, Step


class _McpKeys(Table):
    """Keys of MCP.

    Attributes:
        mcp: Whether the server speaks MCP.
        concurrent_mcp_calls: Calls over MCP worked on at a time.
    """

    mcp: bool = True
    concurrent_mcp_calls: int = Field(default=16, ge=1, le=10_000)


class Mcp(Interface):
    """The Model Context Protocol, for assistants."""

    name = "mcp"
    keys = _McpKeys
    needs = (Callers.name, Documents.name, Filters.name)
    files = ("server.json", "tests/test_mcp.py")
    contents = (("{package}/mcp/", "MCP: tools and transports"),)
    dependencies = ("mcp>=2.3,<3",)
    limits: ClassVar = {"concurrent_mcp_calls": "mcp_calls"}
    queues: ClassVar = {"/mcp": "mcp", "/mcp/": "mcp"}
    environment = ("public_url",)
    section = "mcp"

    def open(self, beside: Collection[str], words: str | None) -> Iterator[Step]:
        """Yield its routes; it reads the larger passages, where results have them."""
        del words
        imports = {"mcp.transports": ("mcp_routes",)}
        passage = ""
        if "parents" in beside:
            imports["retrieval.stages.parents"] = ("find_passage",)
            passage = ", find_passage"
        code = f"app.router.routes.extend(mcp_routes(search, __version__{passage}))"
        yield Step(Place.OFFER, imports, code)


class Assistants(Interface):
    """The configuration of assistants on the server's machine, printed or written."""

    name = "assistants"
    keys = switch(
        "assistants",
        "Whether the server writes the configuration of assistants on its machine.",
        default=False,
    )
    needs = (Mcp.name,)
    section = "assistants"


class _ChatKeys(Table):
    """Keys of the chat.

    Attributes:
        chat: Whether it answers questions from the documents.
        chat_instructions: What a language model is told, beside what the server tells it.
        concurrent_chats: Chats worked on at a time.
        chat_requests_per_minute: Chats of one caller; 0 for any number.
    """

    chat: bool = True
    chat_instructions: str = Field(default="", max_length=4000)
    concurrent_chats: int = Field(default=16, ge=1, le=10_000)
    chat_requests_per_minute: int = Field(default=30, ge=0, le=1_000_000_000)


class Chat(Interface):
    """Answers with citations, over server-sent events."""

    name = "chat"
    keys = _ChatKeys
    needs = (Callers.name, Documents.name, Filters.name)
    files = ("tests/test_chat.py",)
    contents = (("{package}/chat/", "the chat: prompt, citations, extracts"),)
    dependencies = (HTTPX,)
    settings = ("chat_instructions",)
    limits: ClassVar = {
        "concurrent_chats": "chats",
        "chat_requests_per_minute": "chat_requests_per_minute",
    }
    queues: ClassVar = {"/chat": "chat"}
    environment = (
        "public_url",
        "language_model",
        "chat",
    )
    section = "chat"

    def open(self, beside: Collection[str], words: str | None) -> Iterator[Step]:
        """Yield its routes."""
        del beside
        imports = {
            "chat.answer": ("Chat", "chat_routes"),
            "language_model": ("ModelSettings",),
        }
        language = ""
        if words is not None:
            imports[f"chat.words_{words}"] = ("WORDS",)
            language = ", WORDS"
        yield Step(
            Place.ANSWER,
            imports,
            "chat = Chat(search, ModelSettings.from_environment(), chosen.chat_instructions"
            f"{language})\n"
            "app.include_router(chat_routes(chat))",
        )


class OpenAi(Interface):
    """The chat for OpenAI's clients."""

    name = "openai"
    keys = switch(
        "openai", "Whether OpenAI's clients get the chat as well, at `/v1`.", default=False
    )
    needs = (Chat.name,)
    files = ("tests/test_openai.py",)
    queues: ClassVar = {"/v1/chat/completions": "chat"}
    section = "openai"

    def open(self, beside: Collection[str], words: str | None) -> Iterator[Step]:
        """Yield its routes."""
        del beside, words
        code = "app.include_router(openai_routes(chat, chosen.name))"
        yield Step(Place.ANSWER, {"chat.openai": ("openai_routes",)}, code)


class Page(Interface):
    """Pages for browsers, and lists of documents for agents."""

    name = "page"
    keys = switch("page", "Whether it has pages for browsers.", default=True)
    needs = (Documents.name, Filters.name, Snippets.name)
    files = ("tests/test_page.py",)
    contents = (("{package}/page/", "the pages for browsers: HTML, CSS, scripts"),)
    environment = ("public_url",)

    def open(self, beside: Collection[str], words: str | None) -> Iterator[Step]:
        """Yield the routes of the pages and what they fetch, and of the lists for agents."""
        del words
        imports = {"web.page": ("agent_routes", "page_routes")}
        chosen = [name for name in (Chat.name, "suggestions") if name in beside]
        shown = ", ".join(f"{name}=True" for name in chosen)
        yield Step(
            Place.OFFER,
            imports,
            f"app.include_router(page_routes({shown}))\napp.include_router(agent_routes)",
        )


def pages_of(interfaces: Collection[str]) -> list[str]:
    """Return the files of `page/` that a server with these interfaces shows to browsers."""
    if Page.name not in interfaces:
        return []
    chat = ["chat.html"] if Chat.name in interfaces else []
    return ["search.html", "document.html", "docs.html", *chat]


INTERFACES: dict[str, Interface] = {
    interface.name: interface
    for interface in (
        Mcp(),
        Assistants(),
        Chat(),
        OpenAi(),
        Page(),
        Documents(),
        Filters(),
        Callers(),
        Workers(),
        Snippets(),
        CommandLine(),
        Hooks(),
        Monitoring(),
        Reloading(),
        Access(),
    )
}
"""By their keys in [server]."""
