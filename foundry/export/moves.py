"""Where the modules of earlier exports went, and imports that follow them there.

Up to revision 2975bdc all modules of a package lay side by side; now they lie in rooms.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from foundry.export.imports import follow_imports

_WENT = {
    "chat.answer": (
        "chat_answer chat_calls chat_events chat.events chat.routes web_chat web_chat_answers"
        " web.event_stream web_event_stream"
    ),
    "chat.conversation": "chat_follow_ups chat_words chat.words",
    "chat.openai": (
        "chat_legend web_chat_requests web_openai web_openai_errors chat.openai_requests"
    ),
    "chat.prompt": "chat_extract chat.extract chat_passages chat_prompt",
    "chat.text": (
        "chat_citations chat_markup chat.safe_text chat_sentences retrieval.sentences sentence_ends"
    ),
    "cli": "commands json_output text_table verification",
    "evaluation": (
        "evaluation evaluation_command evaluation_figures evaluation_metrics evaluation_questions"
    ),
    "index.layout": "arrays index.arrays layout vocabulary",
    "index.reader": "index served state index.served",
    "index.reloading": "reloading",
    "index.records": "document_text records",
    "language_model": (
        "call_budget chat_model chat_reply chat_settings model.client model.prompt model.settings"
    ),
    "mcp.server": "mcp_server mcp_tools mcp.tools",
    "mcp.transports": "mcp_envelope mcp.http mcp_http mcp.stdio mcp_stdio",
    "retrieval.calls": "circuit_breaker deadlines",
    "retrieval.candidates": (
        "candidates hybrid_candidates lanes retrieval.stages.boosting retrieval.timing stages"
    ),
    "retrieval.dense_lane": "dense_lane quantising",
    "retrieval.embedding.cohere": "embedding_cohere",
    "retrieval.embedding.fastembed": "embedding_fastembed",
    "retrieval.embedding.http": "embedding_http",
    "retrieval.embedding.live": "embedding_settings live_query_encoder",
    "retrieval.embedding.local": "embedding_folders local_query_encoder",
    "retrieval.embedding.openai": "embedding_openai",
    "retrieval.embedding.probe": "query_probe",
    "retrieval.embedding.recent": "recent_vectors",
    "retrieval.embedding.replies": "embedding_replies",
    "retrieval.embedding.sentence_transformers": "embedding_sentence_transformers",
    "retrieval.encoder": "encoder",
    "retrieval.filters": "filters filter_values",
    "retrieval.fusion_rrf": "fusion_rrf",
    "retrieval.hooks": "hooks",
    "retrieval.hybrid": ("fusion_linear retrieval.fusion_linear retrieval.weights weights"),
    "retrieval.identifiers": "identifiers unknown_identifiers",
    "retrieval.keyword_lane": "keyword_lane",
    "retrieval.query_model": "query_model model.queries",
    "retrieval.results": "passage results retrieval.match",
    "retrieval.settings": "errors index.errors settings",
    "retrieval.spelling": "spelling",
    "retrieval.stages.adaptive_weights": "adaptive_weights",
    "retrieval.stages.anchors": "anchors",
    "retrieval.stages.cross_encoder": "cross_encoder",
    "retrieval.stages.document_cap": "document_cap",
    "retrieval.stages.expansion": "expansion",
    "retrieval.stages.extraction": "feature_extraction",
    "retrieval.stages.feedback": "feedback",
    "retrieval.stages.heuristics": "heuristics",
    "retrieval.stages.links": "links",
    "retrieval.stages.minimum_score": "minimum_score",
    "retrieval.stages.near_duplicates": "near_duplicates",
    "retrieval.stages.parents": "parent_expansion",
    "retrieval.stages.recency": "recency recency_decay recency_tiers",
    "retrieval.stages.rerank": "rerank",
    "retrieval.stages.rewriting": "query_rewriting",
    "retrieval.stages.understanding": "query_understanding",
    "retrieval.tokens": "token_patterns tokens retrieval.token_patterns",
    "store.pgvector": "store_pgvector",
    "store.pgvector_connections": "store_pgvector_connections",
    "store.qdrant": "store_qdrant",
    "store.qdrant_client": "store_qdrant_client",
    "store.settings": "store_settings",
    "store.store": "store store_versions",
    "terminal": "printing result_explanation result_text",
    "web.access": "web_access web_rates",
    "web.citations": "citation_paths citations",
    "web.embedder": "web_embedder_service web_embedder",
    "web.problems": "web_json web_problems web.json",
    "web.middleware": "web_admission web_guard web_hooks web.limits",
    "web.observing": "web_metrics web_observer web_tracing",
    "web.page": "web.llms web.page_chat web_agents web_page web_page_chat web_page_data",
    "web.process": "loading web_loading web_log web.loading web.log",
    "web.requests": "web_requests",
    "web.routes": "web.answers web.runner web_answers web_routes web_runner",
    "web.serving": "web.connections web_protocol web_server web_serving",
    "web.store": "web_store",
    "web.workers": "web_workers",
}
"""Module of an export -> modules of earlier exports whose code went there, or most of it."""

_CHOSEN = "what was chosen of it is constructed in search.py and app.py"

GONE: Mapping[str, str] = {
    "library": "__init__.py puts the hooks around the search",
    "opening": "search.py opens the index",
    "package_files": "foundry verify and foundry update read the files of a package themselves",
    "pattern_cost": "foundry judges patterns when it reads foundry.toml",
    **dict.fromkeys(
        ("hybrid_index", "passages", "query_encoder", "store_engine", "web_embedder_stored"),
        _CHOSEN,
    ),
}
"""Module of earlier exports that none replaces -> why."""

MOVED: Mapping[str, str] = {old: new for new, olds in _WENT.items() for old in olds.split()}
"""Module of earlier exports -> the module that has its code now, both as the package knows them."""


@dataclass(frozen=True, slots=True)
class Moves:
    """Modules and names that lie elsewhere after an update.

    Attributes:
        modules: Whole dotted name of a module before the update -> the same after it.
        gone: Path of a module that none replaces -> why.
    """

    modules: Mapping[str, str]
    gone: Mapping[str, str]

    @classmethod
    def between(cls, package: str, old: Collection[str], new: Collection[str]) -> "Moves":
        """Compare the paths of an export's files with those of the export to come."""
        paths = {module: _path_of(f"{package}.{module}") for module in [*MOVED, *GONE]}
        left = {module for module, path in paths.items() if path in old and path not in new}
        modules = {
            f"{package}.{module}": f"{package}.{MOVED[module]}"
            for module in left & MOVED.keys()
            if _path_of(f"{package}.{MOVED[module]}") in new
        }
        return cls(modules, {paths[module]: GONE[module] for module in left & GONE.keys()})

    def place_of(self, name: str) -> str | None:
        """Return the path that the code of the module at path `name` has now; None if it has
        none."""
        place = self.modules.get(_module_of(name))
        return _path_of(place) if place and name.endswith(".py") else None

    def follow(self, name: str, text: str) -> str:
        """Let the imports of the file at path `name` lead to where modules are after the update."""
        if not self.modules or not name.endswith(".py"):
            return text
        return follow_imports(text, _module_of(name), self.modules)

    def follow_bytes(self, name: str, content: bytes) -> bytes:
        """Do the same with what may be no text at all."""
        try:
            return self.follow(name, content.decode()).encode()
        except UnicodeDecodeError:
            return content


def _module_of(name: str) -> str:
    return ".".join(PurePosixPath(name).with_suffix("").parts)


def _path_of(module: str) -> str:
    return f"{module.replace('.', '/')}.py"
