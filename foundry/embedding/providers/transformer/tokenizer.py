"""Reads the WordPiece tokenizer of a model folder."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foundry.config.named_files import MODEL_TEXT_BYTES
from foundry.runtime.index.tree import read_file
from foundry.runtime.retrieval.embedding.word_pieces import (
    CLS,
    CONTINUATION,
    LONGEST_WORD,
    SEP,
    UNKNOWN,
    Spelling,
)


def read_tokenizer(folder: Path, about: Mapping[str, Any]) -> tuple[list[str], Spelling]:
    """Return the vocabulary in order of token ids, and the normalisation of text."""
    if (folder / "tokenizer.json").is_file():
        return _read_fast_tokenizer(folder / "tokenizer.json")
    text = read_file(folder / "vocab.txt", MODEL_TEXT_BYTES).decode()
    vocabulary = [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]
    _check_vocabulary(vocabulary)
    lowercase = bool(about.get("do_lower_case", True))
    strips = about.get("strip_accents")
    special = [each for each in ("[PAD]", UNKNOWN, CLS, SEP, "[MASK]") if each in vocabulary]
    return vocabulary, Spelling(
        lowercase,
        lowercase if strips is None else bool(strips),
        bool(about.get("tokenize_chinese_chars", True)),
        special,
    )


def _read_fast_tokenizer(path: Path) -> tuple[list[str], Spelling]:
    content = read_object(path)
    model, normalizer = content["model"], content["normalizer"] or {}
    kinds = {
        "model": (model.get("type"), "WordPiece"),
        "normalizer": (normalizer.get("type"), "BertNormalizer"),
        "pre_tokenizer": ((content["pre_tokenizer"] or {}).get("type"), "BertPreTokenizer"),
        "normalizer.clean_text": (normalizer.get("clean_text"), True),
        "model.unk_token": (model.get("unk_token"), UNKNOWN),
        "model.continuing_subword_prefix": (model.get("continuing_subword_prefix"), CONTINUATION),
        "model.max_input_chars_per_word": (model.get("max_input_chars_per_word"), LONGEST_WORD),
    }
    for key, (found, expected) in kinds.items():
        if found != expected:
            raise ValueError(f"{path}: {key} is {found!r}, but only {expected!r} is supported")
    ids: dict[str, int] = model["vocab"]
    added = content.get("added_tokens") or []
    ids |= {token["content"]: token["id"] for token in added}
    if sorted(ids.values()) != [*range(len(ids))]:
        raise ValueError(f"{path}: token ids are not consecutive numbers from 0")
    vocabulary = sorted(ids, key=ids.__getitem__)
    _check_vocabulary(vocabulary)
    for token in added:
        if any(token.get(key) for key in ("single_word", "lstrip", "rstrip", "normalized")):
            raise ValueError(f"{path}: the added token {token['content']!r} is not supported")
    lowercase, strips = bool(normalizer["lowercase"]), normalizer.get("strip_accents")
    return vocabulary, Spelling(
        lowercase,
        lowercase if strips is None else bool(strips),
        bool(normalizer["handle_chinese_chars"]),
        [token["content"] for token in added] or [UNKNOWN, CLS, SEP],
    )


def _check_vocabulary(vocabulary: list[str]) -> None:
    lacking = {UNKNOWN, CLS, SEP} - {*vocabulary}
    if lacking or len({*vocabulary}) != len(vocabulary):
        problem = f"lacks {', '.join(sorted(lacking))}" if lacking else "has a token twice"
        raise ValueError(f"the vocabulary {problem}")
    if any(re.search(r"[\n\r]", token) or not token for token in vocabulary):
        raise ValueError("the vocabulary has a token with a line break, or an empty one")


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file. Raises OSError and ValueError."""
    content = json.loads(read_file(path, MODEL_TEXT_BYTES))
    if not isinstance(content, dict):
        raise ValueError(f"{path}: not a JSON object")
    return content


def read_optional(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, or an empty one if the file does not exist."""
    return read_object(path) if path.is_file() else {}
