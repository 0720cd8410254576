"""Small generated corpora, and a model for them."""

import hashlib
import random
from collections.abc import Callable, Sequence

import numpy as np
from samples import sample_chunk

from foundry.embedding.distil.corpus_texts import chunk_text
from foundry.embedding.embedder import Vectors
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.encoder import split_words

DIMENSIONS = 32

ENGLISH = (
    "water pump valve pressure filter engine oil brake wheel tyre battery cable switch lamp heater"
    " sensor gauge bolt thread torque bearing shaft gearbox clutch throttle exhaust manifold piston"
    " cylinder gasket radiator coolant thermostat alternator starter ignition spark fuel injector"
).split()
RUSSIAN = (
    "вода насос клапан давление фильтр двигатель масло тормоз колесо шина батарея кабель"
    " выключатель лампа нагреватель датчик болт резьба подшипник вал сцепление поршень цилиндр"
).split()
CHINESE = (
    "水泵 阀门 压力 过滤 发动 机油 刹车 车轮 轮胎 电池"
    " 电缆 开关 电灯 加热 传感 螺栓 轴承 离合 活塞 气缸"
).split()


def make_chunk(
    number: int, text: str, *, document: str = "", title: str = "", section: Sequence[str] = ()
) -> ChunkRecord:
    document = document or f"document-{number}"
    return sample_chunk(
        id=f"{number:08x}",
        document_id=document,
        title=title or document,
        text=text,
        section=list(section),
        position={"start": 0, "end": len(text), "line_start": 1, "line_end": 1},
        path=f"{document}.md",
    )


def make_corpus(words: Sequence[str], documents: int = 60, end: str = ". ") -> list[ChunkRecord]:
    """Return the chunks of documents about a few words each: three chunks of four sentences."""
    draw = random.Random(5)
    chunks = []
    join = "" if words[0] >= "\u4e00" else " "
    for number in range(documents):
        topic = draw.sample(words, 6)
        for part in range(3):
            sentences = [
                join.join(draw.choice(topic) for _ in range(draw.randint(4, 9))) for _ in range(4)
            ]
            chunks.append(
                make_chunk(
                    3 * number + part,
                    end.join(sentences) + end.strip(),
                    document=f"document-{number}",
                    title=join.join(topic[:2]),
                    section=[join.join(topic[2:4])],
                )
            )
    return chunks


def teach(texts: Sequence[str]) -> Vectors:
    """Embed each text as the sum of its words' hashes, scaled to length 1: (n, DIMENSIONS)."""
    vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, text in zip(vectors, texts, strict=True):
        for word in split_words(text):
            for part in word if word[0] >= "\u4e00" else [word]:
                digest = hashlib.shake_128(part.encode()).digest(DIMENSIONS)
                row += np.frombuffer(digest, dtype=np.uint8).astype(np.float32) - 127.5
        row /= max(1.0, float(np.sqrt(np.sum(row.astype(np.float64) ** 2))))
    return vectors


def as_chunks(
    model: Callable[[Sequence[str]], Vectors],
) -> Callable[[Sequence[ChunkRecord]], Vectors]:
    """Return a function that embeds chunks with the model."""
    return lambda chunks: model([chunk_text(chunk) for chunk in chunks])


teach_chunks = as_chunks(teach)
