"""/v1/embeddings for OpenAI's clients: vectors from the server's own query encoder."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter
from pydantic import BaseModel, Field, StringConstraints
from starlette.concurrency import run_in_threadpool

from ..errors import InvalidRequestError
from ..index.protocols import Vector
from ..index.reader import current_index
from ..web.routes import JsonResponse, JsonRoute
from .openai import Count, count_words
from .openai_schemas import ERRORS, EmbeddingList

MAX_INPUTS = 256

Text = Annotated[str, StringConstraints(max_length=16_000)]


class EmbeddingRequest(BaseModel):
    """The body of POST /v1/embeddings; parameters that do not affect vectors are ignored."""

    model: Annotated[str, Field(description="Any name.")]
    input: Text | Annotated[list[Text], Field(min_length=1, max_length=MAX_INPUTS)]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Count | None = None


def embedding_routes(model_name: str) -> APIRouter:
    """Return the route of /v1/embeddings; responses give `model_name` as the model."""
    routes = APIRouter(prefix="/v1", route_class=JsonRoute, tags=["openai"], responses=ERRORS)

    @routes.post("/embeddings", response_model=EmbeddingList)
    async def embed(request: EmbeddingRequest) -> JsonResponse:
        """Embed texts with the server's query encoder, in OpenAI's format."""
        texts = [request.input] if isinstance(request.input, str) else request.input
        # This runs in a thread, because many texts would block the event loop.
        vectors = await run_in_threadpool(_embed, texts, request.dimensions)
        is_packed = request.encoding_format == "base64"
        embeddings = [_pack(vector) if is_packed else vector.tolist() for vector in vectors]
        words = sum(map(count_words, texts))
        return JsonResponse(
            {
                "object": "list",
                "data": [
                    {"object": "embedding", "index": number, "embedding": shown}
                    for number, shown in enumerate(embeddings)
                ],
                "model": model_name,
                "usage": {"prompt_tokens": words, "total_tokens": words},
            }
        )

    return routes


def _embed(texts: Sequence[str], dimensions: int | None) -> list[Vector]:
    """Return the unit vector (d,) of each text; zeros for a text without known words.

    Raises InvalidRequestError if no text has known words, or vectors do not have `dimensions`.
    """
    encoder = current_index().encoder
    found = [encoder.encode(text) for text in texts]
    known = next((vector for vector in found if vector is not None), None)
    if known is None:
        raise InvalidRequestError("has too few known words", field="input.0")
    if dimensions not in (None, len(known)):
        message = f"must be {len(known)}, the dimensions of this server's vectors"
        raise InvalidRequestError(message, field="dimensions")
    return [np.zeros_like(known) if vector is None else vector for vector in found]


def _pack(vector: Vector) -> str:
    """Return a vector as base64 of its numbers in little-endian float32."""
    return b64encode(vector.astype("<f4").tobytes()).decode()
