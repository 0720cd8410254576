"""Measures a row's payload and payload indexes in Qdrant: `python benchmarks/payload.py`.

Rows have the payload of publications: a key, a code, the first version, four filter values, a date,
and a path of about 35 characters. The native shard (Qdrant Edge) stores them with the indexes of
Foundry's collections. The sizes of its files are divided by the number of rows.
"""

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import qdrant_edge as edge
from common import row
from qdrant_client import models

from foundry.runtime.retrieval.values import encode_value
from foundry.runtime.store.qdrant.filters import MARKS, MODIFIED, PATHS, path_prefixes
from foundry.runtime.store.qdrant.rows import KEY, SINCE, row_id
from foundry.stores.qdrant.collection import INDEXES
from foundry.stores.qdrant.points import CODE

CHUNKS_OF_ONE = 10
"""Chunks per document, which share its path, filter values and date."""

BATCH = 1000
KINDS = {
    "payload": "payload_storage",
    "indexes of payload": "payload_index",
    "ids": "mutable_id_tracker",
}
"""Kinds of files, by the beginnings of their names."""


def make_payloads(count: int) -> Iterator[dict[str, Any]]:
    """Yield the payloads of `count` rows."""
    choice = random.Random(1)
    for number in range(count):
        document = number // CHUNKS_OF_ONE
        said = {
            "source": "docs",
            "media_type": "text/markdown",
            "tags": f"tag{document % 20}",
            "team": f"team{document % 7}",
        }
        path = f"handbook/part{document % 50}/chapter-{document:07d}.md"
        yield {
            KEY: choice.randrange(-(2**63), 2**63),
            SINCE: 1,
            CODE: choice.randrange(-(2**63), 2**63),
            MARKS: [encode_value(name, value).decode() for name, value in said.items()],
            PATHS: path_prefixes(encode_value("path", path)),
            MODIFIED: 1_700_000_000 + document,
        }


def open_shard(folder: Path) -> edge.EdgeShard:
    """Return a new shard with the indexes of a collection."""
    dense = edge.EdgeVectorParams(size=4, distance=edge.Distance.Cosine)
    shard = edge.EdgeShard.create(str(folder), edge.EdgeConfig(vectors={"dense": dense}))
    for key, asked in INDEXES.items():
        parameters: Any = edge.KeywordIndexParams()
        if isinstance(asked, models.IntegerIndexParams):
            parameters = edge.IntegerIndexParams(lookup=asked.lookup, range=asked.range)
        shard.update(edge.UpdateOperation.create_field_index(key, parameters))
    return shard


def measure(folder: Path, count: int) -> Counter[str]:
    """Return the bytes of each kind for `count` rows."""
    shard = open_shard(folder)
    points = [
        edge.Point(id=row_id(payload[KEY], 1), vector={"dense": [1.0, 0, 0, 0]}, payload=payload)
        for payload in make_payloads(count)
    ]
    for place in range(0, count, BATCH):
        shard.update(edge.UpdateOperation.upsert_points(points[place : place + BATCH]))
    shard.flush()
    found = Counter[str]()
    for file in folder.rglob("*"):
        if file.is_file():
            name = file.relative_to(folder).as_posix()
            blocks = file.stat().st_blocks * 512
            found.update({kind: blocks for kind, part in KINDS.items() if f"/{part}" in name})
    shard.close()
    return found


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    count = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "shard"
        place.mkdir()
        found = measure(place, count)
    row("part", f"bytes a row, {count:,} rows")
    row("---", "---")
    for kind in KINDS:
        row(kind, f"{found[kind] / count:.0f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
