import logging
import os
import random
import sqlite3
import stat
import subprocess
from pathlib import Path

import numpy as np
import pytest
import sharing
import warm_python
from faults import EVERY_FAULT

from foundry.embedding.vector_cache import VectorCache
from foundry.errors import BuildError

TEXTS = ["roof", "air\0\n", "", "漢字 🙂", "\ud800 alone"]
VECTORS = np.random.default_rng(1).normal(size=(5, 7)).astype(np.float32)


def test_vectors_are_stored_exactly_and_by_space(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "cache.sqlite")
    cache.space("one").store(TEXTS, VECTORS)
    cache.close()
    cache = VectorCache(tmp_path / "cache.sqlite")
    found = cache.space("one").find([*TEXTS, "other"])
    assert found[-1] is None
    assert np.array(found[:-1]).tobytes() == VECTORS.tobytes()
    assert cache.space("one").dimensions == 7
    assert cache.space("two").find(TEXTS) == [None] * 5
    assert cache.space("two").dimensions is None
    cache.close()


def test_probe_is_stored(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "cache.sqlite")
    space = cache.space("one")
    assert space.probe is None
    space.keep_probe(VECTORS[0])
    again = VectorCache(tmp_path / "cache.sqlite").space("one").probe
    assert again is not None and again.tobytes() == VECTORS[0].tobytes()


def test_files_are_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        cache = VectorCache(tmp_path / "state" / "cache.sqlite")
        cache.space("one").store(TEXTS, VECTORS)
        modes = {
            path.name: stat.S_IMODE(path.stat().st_mode)
            for path in [tmp_path / "state", *(tmp_path / "state").iterdir()]
        }
        cache.close()
    finally:
        os.umask(before)
    assert modes.pop("state") == 0o700
    assert set(modes.values()) == {0o600}


def test_vector_that_was_changed_on_disk_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    cache = VectorCache(path)
    cache.space("one").store(TEXTS, VECTORS)
    cache.close()
    with sqlite3.connect(path) as connection:
        row = "SELECT key, value FROM entries WHERE length(value) = 28 LIMIT 1"
        key, vector = connection.execute(row).fetchone()
        changed = bytes([vector[0] ^ 1]) + vector[1:]
        connection.execute("UPDATE entries SET value = ? WHERE key = ?", (changed, key))
    connection.close()
    cache = VectorCache(path)
    found = cache.space("one").find(TEXTS)
    cache.close()
    assert sum(vector is None for vector in found) == 1
    for vector, kept in zip(found, VECTORS, strict=True):
        assert vector is None or vector.tobytes() == kept.tobytes()


@pytest.mark.parametrize("seed", range(40 if EVERY_FAULT else 12))
def test_damaged_files_give_correct_vectors_or_none(
    seed: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Bytes are overwritten anywhere: nothing crashes, no vector is wrong, and storing works."""
    draw = random.Random(seed)
    path = tmp_path / "cache.sqlite"
    texts = [f"text {n}" for n in range(300)]
    vectors = np.random.default_rng(seed).normal(size=(300, 16)).astype(np.float32)
    cache = VectorCache(path)
    cache.space("one").store(texts, vectors)
    cache.close()
    content = bytearray(path.read_bytes())
    if seed % 4 == 0:
        del content[draw.randrange(len(content)) :]
    for _ in range(draw.choice([1, 20, 2000])):
        if content:
            content[draw.randrange(len(content))] = draw.randrange(256)
    path.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        cache = VectorCache(path)
        space = cache.space("one")
        for vector, kept in zip(space.find(texts), vectors, strict=True):
            assert vector is None or vector.tobytes() == kept.tobytes()
        space.store(texts, vectors)
        found = space.find(texts)
        missing = [text for text, vector in zip(texts, found, strict=True) if vector is None]
        if missing:
            space.store(texts, vectors)
            found = space.find(texts)
        assert np.array(found).tobytes() == vectors.tobytes()
        cache.close()
    assert ("damaged" in caplog.text) == (tmp_path / "cache.sqlite.damaged").exists()


def test_unwritable_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "cache.sqlite").mkdir()
    with pytest.raises(BuildError, match=r"cache\.sqlite"):
        VectorCache(tmp_path / "cache.sqlite")


def test_links_are_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    (tmp_path / "cache.sqlite").symlink_to(target)
    with pytest.raises(BuildError):
        VectorCache(tmp_path / "cache.sqlite")
    assert not target.exists()


CHILD = """
import os, sys
from pathlib import Path
import numpy as np
from foundry.embedding.vector_cache import VectorCache

space = VectorCache(Path(sys.argv[1])).space("one")
for number in range(100_000):
    space.store([f"text {number}"], np.full((1, 8), number, dtype=np.float32))
    os.write(1, f"{number}\\n".encode())
"""


def test_stored_vectors_survive_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    for _ in range(2):
        command = [*warm_python.command(*sharing.COMMANDS), CHILD, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            for _ in range(50):
                line = child.stdout.readline()
            child.kill()
            last = int((line + child.stdout.read()).split()[-1])
        cache = VectorCache(path)
        found = cache.space("one").find([f"text {number}" for number in range(last + 1)])
        cache.close()
        for number, vector in enumerate(found):
            assert vector is not None and vector.tolist() == [number] * 8
