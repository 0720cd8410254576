"""Tasks that run on the nodes of a cluster, in Ray's worker processes.

Arguments and results are plain values that other versions of Foundry can read. A node with a
different installation answers with a `Mismatch`, since its results would differ.
"""

import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from foundry.building.documents.programs import installation, program_hash
from foundry.building.documents.recipe import Recipe
from foundry.building.documents.workers import ask_workers, open_sandbox
from foundry.building.ray.cluster import SAME_EVERYWHERE, Reference, get_here
from foundry.config.file import EmbeddingSection
from foundry.documents import RawDocument
from foundry.embedding.providers.model import EmbeddingModel, Side
from foundry.embedding.providers.models import open_model
from foundry.errors import BuildError
from foundry.files import write_files
from foundry.readers.sandbox.processes import Sandbox
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure

ANSWER_BYTES = 32_000_000
"""A batch ends once its answers reach this size."""

Mismatch = dict[str, str]
"""The versions on a node whose installation differs from the build's."""

Refusal = tuple[str, str | None]
"""Why a node cannot embed: message and hint."""


def prepare_batch(
    program: str, recipe: str, documents: Sequence[tuple[Mapping[str, Any], bytes]]
) -> list[bytes] | Mismatch:
    """Prepare documents one by one in this node's sandboxed worker; return its answers.

    If the answers become large, only the first documents are prepared. `program` is the build's
    `program_hash`; documents are given by their description and content.
    """
    if program != program_hash():
        return installation()
    sandbox = _sandbox(recipe)
    answers: list[bytes] = []
    room = ANSWER_BYTES
    for described, content in documents:
        answers += ask_workers(sandbox, [RawDocument.from_description(described, content)])
        room -= len(answers[-1])
        if room < 0:
            break
    return answers


def embed_batch(
    program: str,
    options: Mapping[str, Any],
    revision: str,
    files: Sequence[Reference] | None,
    texts: Sequence[str],
    side: Side,
) -> NDArray[np.float32] | Refusal | Mismatch:
    """Return unit vectors (n, d) of prefixed texts, or a Refusal if the model fails.

    The model stays open in this process. `program` is the build's `program_hash`; `files` are
    references to the files of a model folder; None for a published model.
    """
    if program != program_hash():
        return installation()
    try:
        key = (str(options["model"]), revision)
        if key not in _MODELS:
            _MODELS[key] = _open(EmbeddingSection(**options), files)
        model = _MODELS[key]
        if model.revision != revision:
            return f"a node has revision {model.revision!r} of the model, not {revision!r}", (
                "install the same revision on all nodes, or name the model by its folder"
            )
        return model.embed(texts, side)
    except (EmbeddingFailure, BuildError) as error:
        return error.message, error.hint


_MODELS: dict[tuple[str, str], EmbeddingModel] = {}


@cache
def _sandbox(recipe: str) -> Sandbox:
    # The sandbox is not closed: its workers end with this process, when their standard input
    # closes.
    return open_sandbox(Recipe.from_json(recipe))


def _open(options: EmbeddingSection, files: Sequence[Reference] | None) -> EmbeddingModel:
    if files is None:
        return open_model(options)
    (shipped,) = files
    # Open files stay readable after they are deleted, so nothing is left behind.
    with tempfile.TemporaryDirectory(prefix="foundry-model-") as folder:
        write_files(Path(folder), get_here(shipped))
        model = open_model(options.model_copy(update={"model": folder}))
        # A transformer's process opens the files at its first call, and serves all later ones.
        model.embed(["text"], "document")
        return model


Answer = TypeVar("Answer")


def check_installation(answer: Answer | Mismatch) -> Answer:
    """Return the answer of a node. Raises BuildError for a mismatch, naming the differences."""
    if not isinstance(answer, dict):
        return answer
    own = installation()
    differing = [
        f"{name} {answer.get(name, 'missing')} (here {own.get(name, 'missing')})"
        for name in dict.fromkeys((*own, *answer))
        if own.get(name) != answer.get(name)
    ]
    what = ", ".join(differing) or "different code under the same version of Foundry"
    raise BuildError(
        f"a node of the cluster would prepare documents differently: it has {what}",
        hint=SAME_EVERYWHERE,
    )
