"""Reads a Sentence Transformers model folder for the numpy transformer.

Unsupported architectures are rejected by name before anything is embedded.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from foundry.config.named_files import MODEL_TEXT_BYTES
from foundry.embedding.providers.model import Prefixes
from foundry.embedding.providers.safetensors import Tensors
from foundry.embedding.providers.transformer.tokenizer import (
    read_object,
    read_optional,
    read_tokenizer,
)
from foundry.runtime.index.tree import read_file
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure
from foundry.runtime.retrieval.embedding.transformer import (
    Description,
    Transformer,
    TransformerLayout,
    weight_shapes,
)
from foundry.runtime.retrieval.embedding.word_pieces import Spelling

HINT = "the providers sentence-transformers and fastembed run other models"
WEIGHTS = "model.safetensors"
POOLINGS: dict[str, Literal["mean", "cls"]] = {
    "mean": "mean",
    "cls": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
}
MODULES = ("Transformer", "Pooling", "Normalize")
MAX_SIZE = 1 << 20
"""Upper limit for sizes in a model's config.json, far above any model of this family."""

_LINEAR = {
    "attention.output.dense": "attention_output",
    "intermediate.dense": "intermediate",
    "output.dense": "output",
}
_NORMS = {
    "attention.output.LayerNorm": "attention_norm",
    "output.LayerNorm": "output_norm",
}
"""Parameter names in a checkpoint, and in `weight_shapes`."""


@dataclass(frozen=True, slots=True)
class TransformerFiles:
    """The contents of a model folder, with weights as float16, the type that an index stores."""

    shape: Description
    vocabulary: list[str]
    weights: Mapping[str, NDArray[np.float16]]
    prompts: Prefixes | None


def find_transformer(model: str, folder: Path | None) -> Path:
    """Return the folder of a model: its path, or the folder in an installed distribution.

    Raises EmbeddingFailure if there is none; nothing is downloaded, and no code is run.
    """
    if folder is not None:
        return folder
    try:
        files = metadata.files(model) or []
    except (metadata.PackageNotFoundError, ValueError):
        files = []
    found = [Path(str(file.locate())).parent for file in files if file.name == "modules.json"]
    if len(found) != 1:
        problem = "is neither a folder nor an installed distribution with one model"
        raise EmbeddingFailure(
            f"the model {model!r} is {problem}",
            hint="set embedding.model to the folder that Sentence Transformers saves, or the name"
            " of an installed distribution that contains one; nothing is downloaded",
        )
    return found[0]


def read_transformer(folder: Path) -> TransformerFiles:
    """Read a folder. Raises EmbeddingFailure for unsupported or damaged models."""
    try:
        return _read(folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        said = str(error) if isinstance(error, OSError | ValueError) else f"lacks {error}"
        place = "" if str(folder) in said else f"{folder}: "
        raise EmbeddingFailure(f"{place}{said}", hint=HINT) from None


def open_transformer(files: TransformerFiles) -> Transformer:
    """Return the transformer as a server runs it."""
    return Transformer(files.shape, files.vocabulary, files.weights)


def write_transformer(files: TransformerFiles, directory: Path) -> None:
    """Write a transformer to a new folder, for `Transformer.open`."""
    directory.mkdir(parents=True)
    layout = TransformerLayout(directory)
    layout.vocabulary.write_bytes("".join(f"{token}\n" for token in files.vocabulary).encode())
    flat = np.concatenate([files.weights[name].ravel() for name in weight_shapes(files.shape)])
    with layout.weights.open("wb") as file:
        np.lib.format.write_array(file, flat.astype("<f2"), version=(1, 0), allow_pickle=False)
    content = json.dumps(asdict(files.shape), indent=1, sort_keys=True)
    layout.description.write_bytes(content.encode() + b"\n")


def _read(folder: Path) -> TransformerFiles:
    inner, pooling = _read_modules(folder)
    config = read_object(inner / "config.json")
    _check(inner / "config.json", config)
    settings = read_optional(inner / "sentence_bert_config.json")
    about_tokens = read_optional(inner / "tokenizer_config.json")
    vocabulary, spelling = read_tokenizer(inner, about_tokens)
    if settings.get("do_lower_case"):
        spelling = Spelling(
            True, spelling.strip_accents, spelling.separate_chinese, spelling.special
        )
    positions = _size(config, "max_position_embeddings")
    asked = settings.get("max_seq_length") or about_tokens.get("model_max_length") or positions
    shape = Description(
        vocabulary=_size(config, "vocab_size"),
        hidden_size=_size(config, "hidden_size"),
        layers=_size(config, "num_hidden_layers"),
        heads=_size(config, "num_attention_heads"),
        intermediate_size=_size(config, "intermediate_size"),
        max_tokens=int(min(asked, positions)),
        epsilon=float(config.get("layer_norm_eps", 1e-12)),
        pooling=pooling,
        spelling=asdict(spelling),
    )
    if shape.hidden_size % shape.heads:
        raise ValueError(
            f"hidden_size {shape.hidden_size} is not a multiple of {shape.heads} heads"
        )
    known, most = len(vocabulary), shape.max_tokens
    if known > shape.vocabulary or most < 3:
        raise ValueError(f"{known} tokens, or a limit of {most} per text, contradict config.json")
    vocabulary += [f"[unused row {number}]" for number in range(known, shape.vocabulary)]
    weights = dict(_read_weights(Tensors(inner / WEIGHTS), shape, config))
    prompts = read_optional(folder / "config_sentence_transformers.json").get("prompts") or {}
    return TransformerFiles(shape, vocabulary, weights, Prefixes.read(prompts))


def _read_modules(folder: Path) -> tuple[Path, Literal["mean", "cls"]]:
    """Return the folder of the transformer module, and the pooling of the next module."""
    modules: Any = json.loads(read_file(folder / "modules.json", MODEL_TEXT_BYTES))
    kinds = [str(module["type"]).rpartition(".")[2] for module in modules]
    if kinds not in ([*MODULES], [*MODULES[:2]]):
        raise ValueError(f"modules.json: {', '.join(kinds)}, expected {', '.join(MODULES)}")
    inner, pool = (folder / str(module["path"]) for module in modules[:2])
    if not all(each.resolve().is_relative_to(folder.resolve()) for each in (inner, pool)):
        raise ValueError("modules.json: a module is outside the folder")
    about = read_object(pool / "config.json")
    chosen = [
        key for key, value in about.items() if key.startswith("pooling_mode_") and value is True
    ] or [str(about.get("pooling_mode"))]
    if len(chosen) != 1 or chosen[0] not in POOLINGS:
        names = " and ".join(map(str, chosen))
        raise ValueError(f"pools by {names}, expected the mean or the first token")
    if about.get("include_prompt") is False:
        raise ValueError("pools without the prompt (include_prompt is false)")
    return inner, POOLINGS[chosen[0]]


def _check(path: Path, config: Mapping[str, Any]) -> None:
    """Raise ValueError for an architecture that is not supported."""
    for key, expected, default in (
        ("model_type", "bert", None),
        ("position_embedding_type", "absolute", "absolute"),
        ("hidden_act", "gelu", None),
        ("is_decoder", False, False),
        ("add_cross_attention", False, False),
    ):
        found = config.get(key, default)
        if found != expected:
            raise ValueError(f"{path}: {key} is {found!r}, but only {expected!r} is supported")


def _size(config: Mapping[str, Any], key: str) -> int:
    value = config[key]
    if not isinstance(value, int) or not 1 <= value <= MAX_SIZE:
        raise ValueError(f"config.json: {key} is {value!r}")
    return value


def _read_weights(
    tensors: Tensors, shape: Description, config: Mapping[str, Any]
) -> Iterator[tuple[str, NDArray[np.float16]]]:
    """Yield the weights, named as in `weight_shapes`. Raises ValueError."""
    shapes = weight_shapes(shape)
    size = (shape.hidden_size,)
    prefix = "bert." if "bert.embeddings.word_embeddings.weight" in tensors else ""

    def read(name: str, expected: tuple[int, ...]) -> NDArray[np.float32]:
        return tensors.read(prefix + name, expected)

    def halve(name: str, values: NDArray[np.float32]) -> tuple[str, NDArray[np.float16]]:
        with np.errstate(over="ignore"):
            half = values.astype(np.float16)
        if half.shape != shapes[name] or not np.isfinite(half).all():
            raise ValueError(f"{name}: has a number that is not finite in half precision")
        return name, half

    def norm(name: str) -> NDArray[np.float32]:
        return np.stack([read(f"{name}.{part}", size) for part in ("weight", "bias")])

    words = read("embeddings.word_embeddings.weight", shapes["word_embeddings"])
    yield halve("word_embeddings", words)
    rows = (_size(config, "max_position_embeddings"), shape.hidden_size)
    types = (_size(config, "type_vocab_size"), shape.hidden_size)
    # All tokens of a single text have type 0, so its embedding is added once.
    token_type = read("embeddings.token_type_embeddings.weight", types)[0]
    positions = read("embeddings.position_embeddings.weight", rows)[: shape.max_tokens]
    yield halve("position_embeddings", positions + token_type)
    yield halve("embeddings_norm", norm("embeddings.LayerNorm"))
    square = (shape.hidden_size, shape.hidden_size)
    for number in range(shape.layers):
        layer = f"encoder.layer.{number}"
        projections = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        matrices = [read(f"{name}.weight", square) for name in projections]
        yield halve(f"{number}.query_key_value", np.concatenate(matrices))
        biases = [read(f"{name}.bias", size) for name in projections]
        yield halve(f"{number}.query_key_value_bias", np.concatenate(biases))
        for theirs, name in _LINEAR.items():
            for ours, part in ((f"{number}.{name}", "weight"), (f"{number}.{name}_bias", "bias")):
                yield halve(ours, read(f"{layer}.{theirs}.{part}", shapes[ours]))
        for theirs, name in _NORMS.items():
            yield halve(f"{number}.{name}", norm(f"{layer}.{theirs}"))
