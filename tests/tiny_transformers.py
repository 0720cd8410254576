"""Transformers of a few thousand weights, each shaped and saved like a common model family.

`python tests/tiny_transformers.py`, with Sentence Transformers installed, embeds `TEXTS` with that
library and writes the vectors to `tests/embedding/transformer_vectors.json`.
"""

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

KEPT = Path(__file__).parent / "embedding" / "transformer_vectors.json"

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (
    "the a of pump ##s seal ##ed valve leak ##ing air fresh water roof 7 ##5 . , ( ) - ! $"
    " cafe café straße σοφος ##ος Pump Ärger 水 泵 ⑦ q query : passage ##age ##e"
)
LETTERS = "abcdefghij"
PIECES = [
    *dict.fromkeys([*SPECIAL, *WORDS.split(), *LETTERS, *(f"##{letter}" for letter in LETTERS)])
]

TEXTS = (
    "The pumps leaked: seal the valve!",
    "fresh air",
    "",
    "Café, Straße, ΣΟΦΟΣ; Ärger ⑦ $75",
    "水泵 leaks\u200b and\u0000 [MASK] zzz [SEP] " + "a" * 101,
    "the pump of the roof " * 150,
)

KINDS: dict[str, dict[str, Any]] = {
    "minilm": {"pooling": "mean", "tokens": 24, "prompts": {}},
    "bge": {"pooling": "cls", "tokens": 512, "prompts": {"query": "query: "}},
    "e5": {
        "pooling": "mean",
        "tokens": 512,
        "prompts": {"query": "query: ", "document": "passage: "},
    },
    "gte": {"pooling": "mean", "tokens": 512, "prompts": {}, "lowercase": False, "type": "BF16"},
}
WIDTH, INNER, LAYERS, HEADS, PLACES = 16, 40, 2, 4, 512


def write_transformer(folder: Path, kind: str = "minilm", **config: object) -> Path:
    """Write the folder of a tiny model; `config` has additional keys of its config.json."""
    about = KINDS[kind]
    folder.mkdir(parents=True)
    _write(
        folder / "config.json",
        {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_act": "gelu",
            "hidden_size": WIDTH,
            "intermediate_size": INNER,
            "layer_norm_eps": 1e-12,
            "max_position_embeddings": PLACES,
            "num_attention_heads": HEADS,
            "num_hidden_layers": LAYERS,
            "pad_token_id": 0,
            "type_vocab_size": 2,
            "vocab_size": len(PIECES),
            **config,
        },
    )
    modules = ["Transformer", "Pooling", "Normalize"][: 2 if kind == "gte" else 3]
    paths = ["", "1_Pooling", "2_Normalize"]
    _write(
        folder / "modules.json",
        [
            {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{name}"}
            for n, (name, path) in enumerate(zip(modules, paths, strict=False))
        ],
    )
    is_mean = about["pooling"] == "mean"
    pooling = {
        "word_embedding_dimension": WIDTH,
        "pooling_mode_cls_token": not is_mean,
        "pooling_mode_mean_tokens": is_mean,
        "pooling_mode_max_tokens": False,
    }
    _write(folder / "1_Pooling" / "config.json", pooling)
    (folder / "2_Normalize").mkdir()
    _write(folder / "sentence_bert_config.json", {"max_seq_length": about["tokens"]})
    _write(folder / "config_sentence_transformers.json", {"prompts": about["prompts"]})
    lowercase = about.get("lowercase", True)
    if kind == "e5":
        (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in PIECES), "utf-8")
    else:
        _write(folder / "tokenizer.json", _tokenizer(lowercase))
    about_tokens = {"tokenizer_class": "BertTokenizer", "do_lower_case": lowercase}
    _write(folder / "tokenizer_config.json", {**about_tokens, "model_max_length": PLACES})
    write_tensors(folder / "model.safetensors", draw_weights(kind), about.get("type", "F32"))
    return folder


def draw_weights(kind: str) -> dict[str, NDArray[np.float32]]:
    """Return weights by their names in the library, large enough to matter."""
    drawn = np.random.default_rng([*kind.encode()])

    def draw(*shape: int) -> NDArray[np.float32]:
        # Every version of numpy draws the same integers; half precision represents these exactly.
        return (drawn.integers(-512, 513, shape) / 1024).astype(np.float32)

    names: dict[str, NDArray[np.float32]] = {
        "embeddings.word_embeddings.weight": draw(len(PIECES), WIDTH),
        "embeddings.position_embeddings.weight": draw(PLACES, WIDTH),
        "embeddings.token_type_embeddings.weight": draw(2, WIDTH),
        "embeddings.LayerNorm.weight": 1 + draw(WIDTH),
        "embeddings.LayerNorm.bias": draw(WIDTH),
    }
    for number in range(LAYERS):
        sizes = {
            "attention.self.query": (WIDTH, WIDTH),
            "attention.self.key": (WIDTH, WIDTH),
            "attention.self.value": (WIDTH, WIDTH),
            "attention.output.dense": (WIDTH, WIDTH),
            "intermediate.dense": (INNER, WIDTH),
            "output.dense": (WIDTH, INNER),
        }
        for name, size in sizes.items():
            names[f"encoder.layer.{number}.{name}.weight"] = draw(*size)
            names[f"encoder.layer.{number}.{name}.bias"] = draw(size[0])
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            names[f"encoder.layer.{number}.{name}.weight"] = 1 + draw(WIDTH)
            names[f"encoder.layer.{number}.{name}.bias"] = draw(WIDTH)
    names["pooler.dense.weight"], names["pooler.dense.bias"] = draw(WIDTH, WIDTH), draw(WIDTH)
    return names


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]], kind: str = "F32") -> None:
    """Write a file of the safetensors format."""
    header, content = {}, b""
    for name, values in tensors.items():
        bits = values.astype("<f4").view("<u4")
        raw = (bits >> 16).astype("<u2").tobytes() if kind == "BF16" else bits.tobytes()
        place = [len(content), len(content) + len(raw)]
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": place}
        content += raw
    written = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    path.write_bytes(len(written).to_bytes(8, "little") + written + content)


def _tokenizer(lowercase: bool) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [
        {"id": number, "content": piece, "special": True, **flags}
        for number, piece in enumerate(SPECIAL)
    ]
    frame = [{"SpecialToken": {"id": piece, "type_id": 0}} for piece in ("[CLS]", "[SEP]")]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": lowercase,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [frame[0], {"Sequence": {"id": "A", "type_id": 0}}, frame[1]],
            "pair": [frame[0], {"Sequence": {"id": "A", "type_id": 0}}, frame[1]],
            "special_tokens": {
                piece: {"id": piece, "ids": [SPECIAL.index(piece)], "tokens": [piece]}
                for piece in ("[CLS]", "[SEP]")
            },
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {piece: number for number, piece in enumerate(PIECES)},
        },
    }


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def keep_vectors() -> None:
    """Embed the texts with the library, queries with their prefix too, and write the vectors."""
    from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found]

    kept = {}
    with tempfile.TemporaryDirectory() as scratch:
        for kind in KINDS:
            folder = write_transformer(Path(scratch) / kind, kind)
            exact = {"dtype": "float32"}
            model = SentenceTransformer(str(folder), device="cpu", model_kwargs=exact)
            embed = {"document": model.encode_document, "query": model.encode_query}
            kept[kind] = {
                side: np.round(encode(list(TEXTS), normalize_embeddings=True), 6).tolist()
                for side, encode in embed.items()
            }
    KEPT.write_text(json.dumps(kept) + "\n", encoding="utf-8")


if __name__ == "__main__":
    keep_vectors()
    sys.stdout.write(f"{KEPT}\n")
