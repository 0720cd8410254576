"""Declares the stages that call a model; searches with them run in threads."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from foundry.features.app_step import AppPlace, AppStep
from foundry.features.calls import ASKED, Call
from foundry.features.feature import HTTPX, MODEL_FOLDER
from foundry.features.search_step import SearchPlace, SearchStep
from foundry.features.stage import Milliseconds, Share, Stage, Surroundings
from foundry.runtime.settings import ADDRESS


class Understanding(Stage):
    """[search.understanding]: a language model rewrites the query, and finds filters in it."""

    name = "understanding"
    summary = "lets a language model rewrite queries or find filters in them"
    description = (
        "before the search, a language model (`LLM_BASE_URL`, `LLM_MODEL`, `LLM_API_KEY`)"
        " rewrites the query. It also sets the filters listed in `extract`, such as"
        ' `["modified_after", "tags", "status"]`, if the query asks for them and the model\'s'
        " confidence is at least `confidence`. Values other than dates must occur in the index, and"
        " filters with more than 100 values are skipped. The caller's own filters are kept"
    )
    waits = True
    is_tuned = False
    contents = (MODEL_FOLDER,)
    dependencies = (HTTPX,)
    section = "understanding"
    environment = ("language_model",)

    rewrite: bool = True
    extract: Annotated[list[str], Field(max_length=20)] = []
    confidence: Share = 0.7
    deadline_ms: Milliseconds = 2000

    def steps(self) -> Iterator[SearchStep]:
        """Yield the step that replaces the query and its filters, before any lookup."""
        module, parts = "retrieval.stages.understanding", list[Call]()
        if self.rewrite:
            parts.append(Call("retrieval.stages.rewriting", "QueryRewriting"))
        if self.extract:
            extraction = "retrieval.stages.extraction"
            fields = Call(extraction, "extracted_fields")
            parts.append(Call(extraction, "FilterExtraction", (fields,), ("confidence",)))
        asked = ("index", ASKED, "filters", "journal", Call(module, "query_model"), (*parts,))
        yield SearchStep(
            SearchPlace.READ,
            Call(module, "understand_query", asked, ("deadline_ms",)),
            readme="A language model reads the query: see"
            " [Understanding queries](#understanding-queries).",
        )

    def find_problems(self, surroundings: Surroundings) -> Iterator[str]:
        """Yield a problem if the table does nothing, and for each unknown filter."""
        yield from super().find_problems(surroundings)
        if not self.rewrite and not self.extract:
            yield "search.understanding: does nothing; set rewrite or extract"
        if not self.extract and "confidence" in self.model_fields_set:
            yield "search.understanding.confidence: does nothing without extract; remove it"
        for name in self.extract:
            if name not in surroundings.filters:
                yield (
                    f"search.understanding.extract: {name!r} is not a filter of this index;"
                    f" these can be extracted: {', '.join(sorted(surroundings.filters))}"
                )

    def own_settings(self) -> Mapping[str, object]:
        """Return the filters to extract."""
        return {"extract": self.extract} if self.extract else {}


_ADDRESSES = {"cohere": "https://api.cohere.com/v2", "jina": "https://api.jina.ai/v1"}


def _rerank_by(module: str, readme: str) -> SearchStep:
    """Return the step that reorders the best candidates with a module's reranker."""
    asked = ("candidates", "index", "query", "journal", Call(module, "reranker"))
    call = Call("retrieval.stages.rerank", "rerank", asked, ("hits", "deadline_ms"))
    return SearchStep(SearchPlace.RERANK, call, readme=readme)


class Rerank(Stage):
    """[search.rerank]: reorders the best results by the scores of a cross-encoder."""

    name = "rerank"
    summary = "reorders the best results with a cross-encoder: name a model"
    description = (
        "a cross-encoder scores each of the best `hits` for the query, and they are reordered by"
        " this score, which replaces their previous score. All other results stay below them"
    )
    waits = True
    is_tuned = False
    dependencies = ("onnxruntime>=1.20,<2", "tokenizers>=0.21,<0.24")
    modules = ("onnxruntime", "tokenizers")
    section = "rerank"
    environment = ("rerank",)

    model: str = Field(min_length=1)
    hits: int = Field(default=10, ge=1, le=100)
    deadline_ms: Milliseconds = 1000

    app_steps = (AppStep(AppPlace.START, Call("retrieval.stages.cross_encoder", "warm_if_wanted")),)
    search_step = _rerank_by(
        "retrieval.stages.cross_encoder",
        "A cross-encoder orders the best {hits}: see [Reranking](#reranking).",
    )

    def own_settings(self) -> Mapping[str, object]:
        """Return the model."""
        return {"model": self.model}


class RerankService(Stage):
    """[search.rerank_service]: reorders the best results by the scores of a service."""

    name = "rerank_service"
    summary = "reorders the best results with Cohere, Jina or a TEI server"
    description = (
        "a service scores each of the best `hits` for the query, and they are reordered by this"
        " score, which replaces their previous score. All other results stay below them. `service`"
        ' is `"cohere"`, `"jina"` or `"tei"` (Text Embeddings Inference or a compatible'
        " server). `tei` needs `base_url`, the others `model`; the key is in `RERANK_API_KEY`"
    )
    waits = True
    is_tuned = False
    dependencies = (HTTPX,)
    section = "rerank_service"
    environment = ("rerank_service",)

    service: Literal["cohere", "jina", "tei"]
    model: str = ""
    base_url: str = ""
    hits: int = Field(default=10, ge=1, le=100)
    deadline_ms: Milliseconds = 2000

    search_step = _rerank_by(
        "retrieval.stages.rerank_service",
        "A service orders the best {hits}: see [Reranking](#reranking).",
    )

    def find_problems(self, surroundings: Surroundings) -> Iterator[str]:
        """Yield problems with the settings of the service."""
        if Rerank.name in surroundings.stages:
            yield (
                "search.rerank_service: [search.rerank] orders the same results; remove one of them"
            )
        if not self.model and self.service != "tei":
            yield f"search.rerank_service.model: {self.service} needs the name of a model"
        if self.model and self.service == "tei":
            yield "search.rerank_service.model: a TEI server has one model; remove it"
        if not self.base_url and self.service == "tei":
            yield (
                "search.rerank_service.base_url: is required; write the server's address, such as"
                " http://127.0.0.1:8080"
            )
        if self.base_url and not ADDRESS.fullmatch(self.base_url):
            yield (
                "search.rerank_service.base_url: write an address like"
                " https://rerank.example.com/v1"
            )

    def own_settings(self) -> Mapping[str, object]:
        """Return the service's kind, address and model."""
        address = self.base_url or _ADDRESSES[self.service]
        return {"service": self.service, "base_url": address, "model": self.model}


STAGES = (Understanding, Rerank, RerankService)
