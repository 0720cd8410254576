"""Declares a server's interfaces other than HTTP search."""

from collections.abc import Collection, Iterator
from typing import ClassVar

from pydantic import Field

from foundry.features.access import Access
from foundry.features.app_step import AppPlace, AppStep, include
from foundry.features.calls import Argument, Call, Imported
from foundry.features.feature import HTTPX, MODEL_FOLDER, Table
from foundry.features.operation import (
    Callers,
    CommandLine,
    Documents,
    Hooks,
    Interface,
    Monitoring,
    QuestionLog,
    Reloading,
)
from foundry.features.providers import Static
from foundry.features.search_box import SearchBox

ADDRESS = AppStep(AppPlace.SETTING, Call("web.citations", "public_servers"), "servers")
"""The step that states PUBLIC_URL in the server's OpenAPI document.

Interfaces whose answers contain urls of the server add it.
"""


class _McpKeys(Table):
    """Keys of MCP.

    Attributes:
        mcp: Whether the server speaks MCP.
        concurrent_mcp_calls: Maximum concurrent MCP calls.
    """

    mcp: bool = True
    concurrent_mcp_calls: int = Field(default=16, ge=1, le=10_000)


class Mcp(Interface):
    """The Model Context Protocol, for assistants."""

    name = "mcp"
    keys = _McpKeys
    needs = (Callers.name, Documents.name)
    files = ("server.json", "tests/test_mcp.py")
    contents = (("{package}/mcp/", "MCP: tools and transports"),)
    dependencies = ("mcp>=2.3,<3",)
    limits: ClassVar = {"concurrent_mcp_calls": "mcp_calls"}
    queues: ClassVar = {"/mcp": "mcp", "/mcp/": "mcp"}
    environment = ("public_url",)
    section = "mcp"

    def open(self, chosen: Collection[str], words: str | None) -> Iterator[AppStep]:
        """Yield MCP's routes, which are not FastAPI routes."""
        del chosen, words
        routes = Call("mcp.http", "mcp_routes", ("search", "__version__"))
        yield AppStep(AppPlace.OFFER, Call("", "app.router.routes.extend", (routes,)))
        yield ADDRESS


class Assistants(Interface):
    """Printing and writing the configuration of assistants on the server's machine."""

    name = "assistants"
    meaning = "Whether the server can configure the assistants on its machine."
    is_on = False
    needs = (Mcp.name,)
    section = "assistants"


class _ChatKeys(Table):
    """Keys of the chat.

    Attributes:
        chat: Whether the server answers questions from the documents.
        concurrent_chats: Maximum concurrent chats.
        chat_requests_per_minute: Maximum chats per caller; 0 for no limit.
    """

    chat: bool = True
    concurrent_chats: int = Field(default=16, ge=1, le=10_000)
    chat_requests_per_minute: int = Field(default=30, ge=0, le=1_000_000_000)


class Chat(Interface):
    """Answers with citations, over server-sent events."""

    name = "chat"
    keys = _ChatKeys
    needs = (Callers.name, Documents.name)
    files = ("tests/test_chat.py",)
    contents = (("{package}/chat/", "the chat: extracts, follow-ups, the stream of events"),)
    limits: ClassVar = {
        "concurrent_chats": "chats",
        "chat_requests_per_minute": "chat_requests_per_minute",
    }
    queues: ClassVar = {"/chat": "chat"}
    environment = ("public_url",)
    section = "chat"

    def open(self, chosen: Collection[str], words: str | None) -> Iterator[AppStep]:
        """Yield the component for answers without a model, and the chat's routes."""
        event = Imported("chat.support", "CheckedEvent")
        if LanguageModel.name not in chosen:
            event = Imported("chat.answer", "ChatEvent")
            yield _chat("chat.extracts", "Chat", (), words)
        yield include(Call("chat.routes", "chat_routes", ("chat.answer", event)))
        yield ADDRESS


class _LanguageModelKeys(Table):
    """Keys of the chat's language model.

    Attributes:
        language_model: Whether the chat asks the language model that `LLM_BASE_URL`, `LLM_MODEL`
            and `LLM_API_KEY` name; without it, answers are extracts of the documents.
        chat_instructions: Instructions for the model, in addition to the server's own.
    """

    language_model: bool = False
    chat_instructions: str = Field(default="", max_length=4000)


class LanguageModel(Interface):
    """Chat answers by a language model, with sentences checked against the passages."""

    name = "language_model"
    keys = _LanguageModelKeys
    needs = (Chat.name,)
    files = ("package/page/support.css", "package/page/support.js")
    contents = (MODEL_FOLDER,)
    dependencies = (HTTPX,)
    settings = ("chat_instructions",)
    environment = ("language_model", "chat_model")

    def open(self, chosen: Collection[str], words: str | None) -> Iterator[AppStep]:
        """Yield the component that answers with the configured model."""
        del chosen
        model = Call("chat.guarded_model", "GuardedModel.from_environment")
        told = (model, "chosen.chat_instructions")
        yield _chat("chat.model_answer", "ModelChat", told, words)


def _chat(module: str, name: str, told: tuple[Argument, ...], words: str | None) -> AppStep:
    """Return the step that creates a chat, with words of the documents' language if available."""
    known = () if words is None else (Imported(f"chat.words_{words}", "WORDS"),)
    return AppStep(AppPlace.ANSWER, Call(module, name, ("search", *told, *known)), "chat")


class OpenAi(Interface):
    """The chat for clients of the OpenAI API."""

    name = "openai"
    meaning = "Whether clients of the OpenAI API can use the chat too, at `/v1`."
    is_on = False
    needs = (Chat.name,)
    files = ("tests/test_openai.py",)
    queues: ClassVar = {"/v1/chat/completions": "chat"}
    section = "openai"

    def open(self, chosen: Collection[str], words: str | None) -> Iterator[AppStep]:
        """Yield the API's routes; the one for embeddings needs vectors from the built-in table."""
        del words
        yield include(Call("chat.openai", "openai_routes", ("chat.answer", "chosen.name")))
        if Static.kind in chosen:
            yield include(Call("chat.embeddings", "embedding_routes", ("chosen.name",)))


class Page(Interface):
    """Web pages for people, and lists of documents for agents."""

    name = "page"
    meaning = "Whether the server has web pages."
    needs = (Documents.name,)
    files = ("tests/test_page.py",)
    contents = (("{package}/page/", "the pages for browsers: HTML, CSS, scripts"),)
    environment = ("public_url",)

    def open(self, chosen: Collection[str], words: str | None) -> Iterator[AppStep]:
        """Yield the routes of the pages, of their data, and of the lists for agents."""
        del words
        known = (Call("", "bool", (Call("web.access", "read_tokens"),)),)
        tokens = known if Callers.name in chosen else ()
        yield include(Call("web.page", "page_routes", tokens), AppPlace.OFFER)
        yield include(Imported("web.page", "agent_routes"), AppPlace.OFFER)
        yield ADDRESS


class Folders(Interface):
    """Browsing of documents by folder."""

    name = "folders"
    meaning = "Whether documents can be browsed by folder: `/folders`, and the page `/browse`."
    is_on = False
    needs = (Page.name,)
    app_steps = (include(Imported("web.folders", "folder_routes"), AppPlace.OFFER),)


class Originals(Interface):
    """Access to the original files of documents."""

    name = "originals"
    meaning = (
        "Whether readers of a document can open its file, which the server finds in the folder"
        " `ORIGINALS`."
    )
    is_on = False
    needs = (Documents.name,)
    files = ("package/page/originals.js",)
    environment = ("originals",)
    section = "originals"
    app_steps = (
        include(
            Call("web.originals", "original_routes", (Call("web.source_files", "Originals.open"),))
        ),
    )


def pages_of(interfaces: Collection[str]) -> list[str]:
    """Return the files of `page/` that a server with these interfaces serves."""
    if Page.name not in interfaces:
        return []
    chat = ["chat.html"] if Chat.name in interfaces else []
    folders = ["browse.html"] if Folders.name in interfaces else []
    box = ["box.css", "box.js"] if SearchBox.name in interfaces else []
    return ["search.html", "document.html", "docs.html", *chat, *folders, *box]


INTERFACES: dict[str, Interface] = {
    interface.name: interface
    for interface in (
        Mcp(),
        Assistants(),
        # The chat must exist before its routes.
        LanguageModel(),
        Chat(),
        OpenAi(),
        Page(),
        SearchBox(),
        Folders(),
        Documents(),
        Originals(),
        Callers(),
        CommandLine(),
        Hooks(),
        Monitoring(),
        QuestionLog(),
        Reloading(),
        Access(),
    )
}
"""Interfaces by their keys in [server]."""
