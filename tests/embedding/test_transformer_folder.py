"""Transformers in numpy: the same vectors as the library's, and folders that are refused."""

import json
import os
import shutil
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import snapshot
from tiny_transformers import (
    KEPT,
    KINDS,
    PIECES,
    SPECIAL,
    TEXTS,
    draw_weights,
    write_tensors,
    write_transformer,
)

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.model import Prefixes
from foundry.embedding.providers.models import open_model
from foundry.embedding.providers.safetensors import Tensors
from foundry.embedding.providers.transformer.folder import (
    find_transformer,
    open_transformer,
    read_transformer,
)
from foundry.embedding.providers.transformer.folder import write_transformer as write_for_server
from foundry.errors import BuildError
from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure
from foundry.runtime.retrieval.embedding.transformer import Transformer, TransformerLayout

KEPT_VECTORS = json.loads(KEPT.read_text())


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **values}))


@pytest.mark.parametrize("side", ["document", "query"])
@pytest.mark.parametrize("kind", KINDS)
def test_vectors_equal_those_of_the_library(kind: str, side: Any, tmp_path: Path) -> None:
    files = read_transformer(write_transformer(tmp_path / kind, kind))
    prefix = (files.prompts or Prefixes()).of(side)
    wanted = np.array(KEPT_VECTORS[kind][side])
    together = open_transformer(files).embed([prefix + text for text in TEXTS], "document")
    assert np.einsum("nd,nd->n", together, wanted).min() > 1 - 1e-5
    assert np.allclose(together, wanted, atol=1e-3)
    # Alone and together with longer ones, a text has the same vector.
    alone = [open_transformer(files).embed([prefix + text], "document")[0] for text in TEXTS]
    assert np.allclose(together, alone, atol=1e-5)


def test_the_copy_for_a_server_gives_the_same_bytes(tmp_path: Path) -> None:
    files = read_transformer(write_transformer(tmp_path / "bge", "bge"))
    for name in ("encoder", "again"):
        write_for_server(files, tmp_path / name)
    assert snapshot(tmp_path / "encoder") == snapshot(tmp_path / "again")
    opened = Transformer.open(tmp_path / "encoder")
    both = [model.embed(TEXTS, "query") for model in (opened, open_transformer(files))]
    assert both[0].tobytes() == both[1].tobytes()
    assert opened.shape == files.shape
    names = sorted(path.name for path in (tmp_path / "encoder").iterdir())
    assert names == ["pieces.txt", "transformer.json", "transformer.npy"]


def test_prefixes_and_limits_are_read_from_the_model(tmp_path: Path) -> None:
    folder = write_transformer(tmp_path / "e5", "e5")
    model = open_model(EmbeddingSection(provider="transformer", model=str(folder)))
    assert model.prefixes == Prefixes("passage: ", "query: ")
    assert model.limits.tokens == 512
    assert model.count_tokens("the pumps, [MASK]") == len(
        "[CLS] the pump ##s , [MASK] [SEP]".split()
    )
    model.close()
    small = write_transformer(tmp_path / "minilm", "minilm")
    model = open_model(EmbeddingSection(provider="transformer", model=str(small), max_tokens=16))
    assert (model.limits.tokens, model.prefixes) == (16, Prefixes())
    model.close()
    (small / "sentence_bert_config.json").unlink()
    assert read_transformer(small).shape.max_tokens == 512


def test_worker_processes_give_the_same_vectors(tmp_path: Path) -> None:
    folder = write_transformer(tmp_path / "minilm", "minilm")
    model = open_model(EmbeddingSection(provider="transformer", model=str(folder)))
    try:
        vectors = model.embed(TEXTS, "document")
        again = model.embed(TEXTS[:1], "document")
    finally:
        model.close()
    expected = open_transformer(read_transformer(folder)).embed(TEXTS, "document")
    assert np.allclose(vectors, expected, atol=1e-6)
    assert np.allclose(again, expected[:1], atol=1e-6)


def test_vector_that_is_not_finite_is_a_bad_reply(tmp_path: Path) -> None:
    folder = write_transformer(tmp_path / "minilm", "minilm", layer_norm_eps=float("nan"))
    model = open_model(EmbeddingSection(provider="transformer", model=str(folder)))
    try:
        with pytest.raises(EmbeddingFailure, match="not finite") as caught:
            model.embed(["pump"], "document")
    finally:
        model.close()
    assert caught.value.is_bad_reply


def test_worker_process_that_ends_is_reported(tmp_path: Path) -> None:
    folder = write_transformer(tmp_path / "minilm", "minilm")
    model = open_model(EmbeddingSection(provider="transformer", model=str(folder)))
    shutil.rmtree(folder)
    try:
        with pytest.raises(BuildError, match="an embedding process has ended"):
            model.embed(["pump"], "document")
    finally:
        model.close()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model_type", "roberta"),
        ("model_type", "distilbert"),
        ("position_embedding_type", "relative_key"),
        ("hidden_act", "gelu_new"),
        ("is_decoder", True),
        ("add_cross_attention", True),
    ],
)
def test_unknown_architecture_is_refused_and_named(key: str, value: object, tmp_path: Path) -> None:
    folder = write_transformer(tmp_path / "model", "minilm", **{key: value})
    with pytest.raises(BuildError, match=f"{key} is {value!r}, but only") as caught:
        open_model(EmbeddingSection(provider="transformer", model=str(folder)))
    assert "sentence-transformers" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("file", "values", "message"),
    [
        ("config.json", {"num_attention_heads": 3}, "is not a multiple of 3 heads"),
        ("config.json", {"hidden_size": -16}, "hidden_size is -16"),
        ("config.json", {"num_hidden_layers": 2**40}, "num_hidden_layers is"),
        (
            "config.json",
            {"num_hidden_layers": 3},
            "encoder.layer.2.attention.self.query.weight: mis",
        ),
        ("config.json", {"intermediate_size": 80}, r"has shape \(40, 16\), expected \(80, 16\)"),
        ("config.json", {"vocab_size": 20}, "contradict config"),
        ("sentence_bert_config.json", {"max_seq_length": 2}, "contradict config"),
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "and pooling_mode_max_tokens"),
        ("1_Pooling/config.json", {"include_prompt": False}, "pools without the prompt"),
        ("tokenizer.json", {"model": {"type": "Unigram"}}, "model is 'Unigram'"),
        ("tokenizer.json", {"pre_tokenizer": None}, "pre_tokenizer is None"),
        (
            "tokenizer.json",
            {"added_tokens": [{"id": 99, "content": "x"}]},
            "not consecutive numbers from 0",
        ),
        ("tokenizer.json", {"model": []}, "lacks"),
    ],
)
def test_unsupported_or_inconsistent_values_are_refused(
    file: str, values: dict[str, Any], message: str, tmp_path: Path
) -> None:
    folder = write_transformer(tmp_path / "model", "minilm")
    change(folder / file, **values)
    with pytest.raises(EmbeddingFailure, match=message):
        read_transformer(folder)


def test_added_token_that_absorbs_adjacent_spaces_is_refused(tmp_path: Path) -> None:
    folder = write_transformer(tmp_path / "model", "minilm")
    token = {"id": len(PIECES), "content": "[X]", "lstrip": True}
    change(folder / "tokenizer.json", added_tokens=[token])
    change(folder / "config.json", vocab_size=len(PIECES) + 1)
    with pytest.raises(EmbeddingFailure, match=r"the added token '\[X\]'"):
        read_transformer(folder)


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        (["Transformer", "Pooling", "Dense"], "Transformer, Pooling, Dense, expected"),
        (["Transformer"], "Transformer, expected"),
    ],
)
def test_other_modules_are_refused(modules: list[str], message: str, tmp_path: Path) -> None:
    folder = write_transformer(tmp_path / "model", "minilm")
    rows = [{"type": f"a.{name}", "path": ""} for name in modules]
    (folder / "modules.json").write_text(json.dumps(rows))
    with pytest.raises(EmbeddingFailure, match=message):
        read_transformer(folder)


def test_module_outside_of_the_folder_is_refused(tmp_path: Path) -> None:
    folder = write_transformer(tmp_path / "model", "minilm")
    rows = json.loads((folder / "modules.json").read_bytes())
    rows[0]["path"] = "../other"
    (folder / "modules.json").write_text(json.dumps(rows))
    with pytest.raises(EmbeddingFailure, match="is outside the folder"):
        read_transformer(folder)


@pytest.mark.parametrize("file", ["modules.json", "config.json", "model.safetensors"])
def test_missing_file_is_named(file: str, tmp_path: Path) -> None:
    folder = write_transformer(tmp_path / "model", "minilm")
    (folder / file).unlink()
    with pytest.raises(EmbeddingFailure, match=file):
        read_transformer(folder)


@pytest.mark.parametrize(
    "file",
    ["modules.json", "config.json", "vocab.txt", "model.safetensors", "1_Pooling/config.json"],
)
def test_named_pipe_is_not_waited_for(file: str, tmp_path: Path) -> None:
    folder = write_transformer(tmp_path / "model", "e5")
    path = next(iter(folder.glob(file)), folder / file)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with pytest.raises(EmbeddingFailure, match="is a named pipe, not a file"):
        read_transformer(folder)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([*SPECIAL[:3], "pump"], r"lacks \[SEP\]"),
        ([*SPECIAL, "pump", "pump"], "has a token twice"),
        ([*SPECIAL, "", "pump"], "an empty one"),
    ],
)
def test_bad_vocabulary_is_refused(lines: list[str], message: str, tmp_path: Path) -> None:
    folder = write_transformer(tmp_path / "model", "e5")
    (folder / "vocab.txt").write_text("\n".join(lines))
    with pytest.raises(EmbeddingFailure, match=message):
        read_transformer(folder)


def test_lower_case_may_be_set_by_the_model(tmp_path: Path) -> None:
    folder = write_transformer(tmp_path / "model", "gte")
    assert not read_transformer(folder).shape.spelling["lowercase"]
    change(folder / "sentence_bert_config.json", do_lower_case=True)
    spelling = read_transformer(folder).shape.spelling
    assert (spelling["lowercase"], spelling["strip_accents"]) == (True, False)


def test_number_beyond_half_precision_is_refused(tmp_path: Path) -> None:
    folder = write_transformer(tmp_path / "model", "minilm")
    weights = draw_weights("minilm")
    weights["encoder.layer.1.output.dense.weight"][0, 0] = 70_000
    write_tensors(folder / "model.safetensors", weights)
    with pytest.raises(EmbeddingFailure, match=r"1\.output: has a number that is not finite"):
        read_transformer(folder)


def test_weights_of_a_model_with_a_head_have_a_prefix(tmp_path: Path) -> None:
    folder = write_transformer(tmp_path / "model", "minilm")
    before = read_transformer(folder).weights
    weights = {f"bert.{name}": values for name, values in draw_weights("minilm").items()}
    write_tensors(folder / "model.safetensors", weights)
    after = read_transformer(folder).weights
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_weights_of_every_number_type_are_read(tmp_path: Path) -> None:
    values = np.array([[1.0, -2.5, 0.15625]], dtype=np.float32)
    for kind, dtype in (("F64", "<f8"), ("F32", "<f4"), ("F16", "<f2")):
        content = values.astype(dtype).tobytes()
        write_raw(tmp_path / kind, {"a": entry(kind, [1, 3], 0, len(content))}, content)
        assert Tensors(tmp_path / kind).read("a", (1, 3)).tolist() == values.tolist()
    write_tensors(tmp_path / "BF16", {"a": values}, "BF16")
    assert Tensors(tmp_path / "BF16").read("a", (1, 3)).tolist() == values.tolist()
    assert "a" in Tensors(tmp_path / "BF16")
    assert "__metadata__" not in Tensors(tmp_path / "BF16")


def entry(kind: str, shape: list[int], begin: Any, end: Any) -> dict[str, object]:
    return {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}


def write_raw(path: Path, header: object, content: bytes) -> None:
    written = json.dumps(header).encode()
    path.write_bytes(len(written).to_bytes(8, "little") + written + content)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"a": entry("F32", [2], 0, 8)}, "is outside"),
        ({"a": entry("F32", [1], -4, 0)}, "is outside"),
        ({"a": entry("F32", [1], -1, 3)}, "is outside"),
        ({"a": entry("F32", [1], 0, 3)}, "is outside"),
        ({"a": entry("F32", [1], 4, 0)}, "is outside"),
        ({"a": entry("F32", [1], 0.0, 4)}, "is outside"),
        ({"a": entry("F32", [1], 0, 2**64)}, "is outside"),
        ({"a": entry("I64", [1], 0, 4)}, "has type 'I64', expected F64, F32, F16, BF16"),
        ({"a": {"dtype": "F32", "shape": [1]}}, "malformed entry"),
        ({"a": [1]}, "malformed entry"),
        ({"a": {"dtype": "F32", "shape": 1, "data_offsets": [0, 4]}}, "malformed entry"),
        ({}, "a: missing"),
        ([], "not an object"),
    ],
)
def test_hostile_weights_are_refused(header: object, message: str, tmp_path: Path) -> None:
    write_raw(tmp_path / "file", header, b"\0" * 4)
    with pytest.raises(ValueError, match=message):
        shape = (2,) if "[2]" in json.dumps(header) else (1,)
        Tensors(tmp_path / "file").read("a", shape)


@pytest.mark.parametrize(
    "content", [b"\x80\x02}q\x00.", b"\xff" * 8 + b"{}", (2).to_bytes(8, "little") + b"{"]
)
def test_malformed_weight_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match="not a safetensors file"):
        Tensors(tmp_path / "file")


def test_a_header_may_fill_the_file_and_has_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes((2).to_bytes(8, "little") + b"{}")
    assert "a" not in Tensors(file)
    for length, message in ((100_000_000, "unreadable"), (100_000_001, "not a safetensors file")):
        with file.open("wb") as written:
            written.write(length.to_bytes(8, "little") + b"!")
            # A sparse file takes no space on the disk.
            written.truncate(8 + 100_000_001)
        with pytest.raises(ValueError, match=message):
            Tensors(file)


def test_header_that_is_not_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes((5).to_bytes(8, "little") + b"{'a':" + b"\0" * 8)
    with pytest.raises(ValueError, match="the header is unreadable"):
        Tensors(tmp_path / "file")


def test_model_may_be_in_an_installed_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_transformer(tmp_path / "tiny_model" / "model", "minilm")
    about = tmp_path / "tiny_model-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n")
    names = [path for path in tmp_path.rglob("*") if path.is_file()]
    record = "".join(f"{path.relative_to(tmp_path).as_posix()},,\n" for path in names)
    (about / "RECORD").write_text(record)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert metadata.version("tiny-model") == "1.0"
    assert find_transformer("tiny-model", None) == tmp_path / "tiny_model" / "model"
    model = open_model(EmbeddingSection(provider="transformer", model="tiny-model"))
    model.close()
    assert model.model == "tiny-model"
    assert len(model.revision) == 64
    for other in ("numpy", "no-such-distribution", "intfloat/e5-small-v2"):
        with pytest.raises(BuildError, match="nor an installed distribution with one") as caught:
            open_model(EmbeddingSection(provider="transformer", model=other))
        assert "nothing is downloaded" in (caught.value.hint or "")


def test_damaged_transformer_of_an_index_is_refused(tmp_path: Path) -> None:
    files = read_transformer(write_transformer(tmp_path / "model", "minilm"))
    write_for_server(files, tmp_path / "encoder")
    layout = TransformerLayout(tmp_path / "encoder")
    described = layout.description.read_bytes()
    layout.description.write_bytes(described.replace(b'"format": 2', b'"format": 3'))
    with pytest.raises(IndexUnusableError, match="transformer format 3, but this server"):
        Transformer.open(layout.root)
    layout.description.write_bytes(b"{")
    with pytest.raises(IndexUnusableError, match="unreadable"):
        Transformer.open(layout.root)
    layout.description.write_bytes(described)
    layout.weights.write_bytes(layout.weights.read_bytes()[:-2])
    with pytest.raises(IndexUnusableError, match=r"transformer\.npy"):
        Transformer.open(layout.root)
