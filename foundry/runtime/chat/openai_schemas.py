"""What /v1 answers, as its OpenAPI document describes it: OpenAI's objects, and fields of ours."""

from typing import Literal

from pydantic import BaseModel

from .answer import AnswerReason, QueryOrigin, SourceOfAnswer

FinishReason = Literal["stop", "length"]


class ModelDescription(BaseModel):
    """The one model that there is."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelList(BaseModel):
    """The answer of GET /v1/models."""

    object: Literal["list"]
    data: list[ModelDescription]


class TokenUsage(BaseModel):
    """The tokens that an answer took, or the words where no model was asked."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class UrlCitation(BaseModel):
    """A citation: its place in the text, in characters, and the passage that it names."""

    start_index: int
    end_index: int
    title: str
    url: str


class Annotation(BaseModel):
    """Something about a place in the text."""

    type: Literal["url_citation"]
    url_citation: UrlCitation


class AnswerMessage(BaseModel):
    """An answer."""

    role: Literal["assistant"]
    content: str
    refusal: None
    annotations: list[Annotation]


class AnswerDelta(BaseModel):
    """What comes next of an answer; the annotations come last."""

    role: Literal["assistant"] | None = None
    content: str | None = None
    annotations: list[Annotation] | None = None


class CompletionChoice(BaseModel):
    """The one answer."""

    index: int
    message: AnswerMessage
    logprobs: None
    finish_reason: FinishReason


class ChunkChoice(BaseModel):
    """A piece of the one answer; the last has a reason."""

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
    """How an answer came about, as the events of POST /chat tell it."""

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
    """The answer of POST /v1/chat/completions."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: TokenUsage | None = None


class ChatCompletionChunk(AnswerOrigin):
    """The data of an event; the first chunk has the sources, the last how the answer came about."""

    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: TokenUsage | None = None


class EmbeddingUsage(BaseModel):
    """The words that were embedded."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingOfText(BaseModel):
    """The vector of one text: numbers, or little-endian float32 in base64."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class EmbeddingList(BaseModel):
    """The answer of POST /v1/embeddings."""

    object: Literal["list"]
    data: list[EmbeddingOfText]
    model: str
    usage: EmbeddingUsage


class ErrorDetail(BaseModel):
    """What went wrong; `param` is the field to correct."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAiError(BaseModel):
    """A refusal or failure, as OpenAI's clients read it."""

    error: ErrorDetail
