#!/usr/bin/env bash
# usearch 2.26.6, an index of int8 (dtype="i8") that is given float32 vectors, metrics ip and l2sq.
# Expected: lengths count in both metrics, as with dtype="f32": (3, 4) and (0.3, 0.4) lie 20.25 apart by
#   l2sq, and (30, 40) is the best match of (3, 4) by inner product.
# Seen: every vector is scaled to the length 127 as it is added, so the three are equal, at distance 0 by l2sq;
#   distances are those of the scaled integers (by ip about -16,000), and no warning is given.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet usearch==2.26.6
"$folder/venv/bin/python" - <<'END'
import numpy
from usearch.index import Index

VECTORS = numpy.array([[3, 4], [0.3, 0.4], [30, 40]], dtype=numpy.float32)
for metric in ("l2sq", "ip"):
    for dtype in ("f32", "i8"):
        index = Index(ndim=2, metric=metric, dtype=dtype)
        index.add(numpy.arange(3), VECTORS)
        found = index.search(VECTORS[0], 3)
        distances = dict(zip(found.keys.tolist(), found.distances.tolist()))
        print(metric, dtype, distances)
        if dtype == "f32":
            assert len({round(distance, 2) for distance in distances.values()}) == 3
        else:
            assert len(set(distances.values())) == 1
    print("stored:", index.get(0), index.get(1), index.get(2))
END
