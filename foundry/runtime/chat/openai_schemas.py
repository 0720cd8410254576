"""Responses under /v1 for the OpenAPI document: OpenAI's objects plus our fields."""

from typing import Any, Literal

from pydantic import BaseModel

from .answer import AnswerReason, QueryOrigin, SourceOfAnswer

REFERENCE = "#/components/schemas/{model}"

FinishReason = Literal["stop", "length"]


class ModelDescription(BaseModel):
    """The server's only model."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelList(BaseModel):
    """The response to GET /v1/models."""

    object: Literal["list"]
    data: list[ModelDescription]


class TokenUsage(BaseModel):
    """The tokens used for an answer, or the number of words if no model was called."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class UrlCitation(BaseModel):
    """A citation: its character offsets in the text, and the cited passage."""

    start_index: int
    end_index: int
    title: str
    url: str


class Annotation(BaseModel):
    """An annotation of a part of the text."""

    type: Literal["url_citation"]
    url_citation: UrlCitation


class AnswerMessage(BaseModel):
    """The message of a complete answer."""

    role: Literal["assistant"]
    content: str
    refusal: None
    annotations: list[Annotation]


class AnswerDelta(BaseModel):
    """The next chunk of an answer; annotations come last."""

    role: Literal["assistant"] | None = None
    content: str | None = None
    annotations: list[Annotation] | None = None


class CompletionChoice(BaseModel):
    """The only choice."""

    index: int
    message: AnswerMessage
    logprobs: None
    finish_reason: FinishReason


class ChunkChoice(BaseModel):
    """A chunk of the only choice; the last has a finish reason."""

    index: int
    delta: AnswerDelta
    logprobs: None
    finish_reason: FinishReason | None


class Unsupported(BaseModel):
    """A sentence of a language model's answer that no passage supports."""

    sentence: str
    lacks: Literal["number", "name", "negation", "words"]
    missing: list[str]


class AnswerOrigin(BaseModel):
    """The origin of an answer, as in the events of POST /chat."""

    query: str | None = None
    query_from: QueryOrigin | None = None
    query_notice: str | None = None
    also_searched: str | None = None
    sources: list[SourceOfAnswer] = []
    mode: Literal["model", "extractive"] | None = None
    reason: AnswerReason | None = None
    notice: str | None = None
    unsupported: list[Unsupported] = []


class ChatCompletion(AnswerOrigin):
    """The response to POST /v1/chat/completions."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: TokenUsage | None = None


class ChatCompletionChunk(AnswerOrigin):
    """The data of an event; the first chunk has the sources, the last the origin of the answer."""

    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: TokenUsage | None = None


class EmbeddingUsage(BaseModel):
    """The number of words that were embedded."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingOfText(BaseModel):
    """The vector of a text: numbers, or little-endian float32 in base64."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class EmbeddingList(BaseModel):
    """The response to POST /v1/embeddings."""

    object: Literal["list"]
    data: list[EmbeddingOfText]
    model: str
    usage: EmbeddingUsage


class ErrorDetail(BaseModel):
    """Details of an error; `param` is the field to correct."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAiError(BaseModel):
    """An error in the format that OpenAI's clients expect."""

    error: ErrorDetail


# The error responses under /v1; `web.problems` has those of the other paths.
ERRORS: Any = {
    "default": {
        "description": "The request was rejected or failed.",
        "content": {
            "application/json": {"schema": OpenAiError.model_json_schema(ref_template=REFERENCE)}
        },
    }
}
