"""A cross-encoder that counts common words, as real ONNX and tokenizer files.

Its logit is 2 * (number of different words that query and passage share) - 3.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[CLS]", "[SEP]", "[UNK]")


def logit(shared: int) -> float:
    """Return the model's logit for a pair that shares this many words."""
    return 2.0 * shared - 3.0


def write_cross_encoder(folder: Path, words: Iterable[str], *, two_classes: bool = False) -> Path:
    """Write a model that knows these words (in lower case) and no others."""
    vocabulary = [*SPECIAL, *sorted(set(words))]
    (folder / "onnx").mkdir(parents=True)
    _write_tokenizer(folder / "tokenizer.json", vocabulary)
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 64}))
    onnx.save(_network(len(vocabulary), two_classes), str(folder / "onnx" / "model.onnx"))
    return folder


def _write_tokenizer(file: Path, vocabulary: list[str]) -> None:
    numbers = {word: number for number, word in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, numbers[name]) for name in ("[CLS]", "[SEP]")],
    )
    tokenizer.save(str(file))


def _network(size: int, two_classes: bool) -> onnx.ModelProto:
    table = np.eye(size, dtype=np.float32)
    table[: len(SPECIAL)] = 0
    # Of two classes, "no" has the logit 0.
    weights = np.array([[0.0, 2.0]] if two_classes else [[2.0]], dtype=np.float32)
    bias = np.array([0.0, -3.0] if two_classes else [-3.0], dtype=np.float32)
    constants = {
        "table": table,
        "weights": weights,
        "bias": bias,
        "one": np.array(1.0, dtype=np.float32),
        "last": np.array([2], dtype=np.int64),
        "tokens": np.array([1], dtype=np.int64),
    }
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["present"]),
        helper.make_node("Mul", ["rows", "present"], ["seen"]),
        helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["types", "last"], ["second"]),
        helper.make_node("Sub", ["one", "second"], ["first"]),
        helper.make_node("Mul", ["seen", "first"], ["query_rows"]),
        helper.make_node("Mul", ["seen", "second"], ["passage_rows"]),
        helper.make_node("ReduceMax", ["query_rows", "tokens"], ["query"], keepdims=0),
        helper.make_node("ReduceMax", ["passage_rows", "tokens"], ["passage"], keepdims=0),
        helper.make_node("Mul", ["query", "passage"], ["both"]),
        helper.make_node("ReduceSum", ["both", "tokens"], ["shared"], keepdims=1),
        helper.make_node("MatMul", ["shared", "weights"], ["weighted"]),
        helper.make_node("Add", ["weighted", "bias"], ["logits"]),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["pairs", "length"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["pairs", weights.shape[1]])
    graph = helper.make_graph(
        nodes,
        "common words",
        inputs,
        [output],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 9
    onnx.checker.check_model(model)
    return model
