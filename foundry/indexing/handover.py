"""What a build leaves for the next one, so that this can copy what has not changed.

An index does not hold everything that its successor has to know: how often a term occurs in a
chunk, what a link asks for, which input gave which document. That is kept in a folder of its own
beside the index, never in it. Whoever writes a part of the index writes its part of the handover.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foundry.indexing.files import describe_files, encode_json
from foundry.runtime.index.layout import CHUNK_LENGTHS, POSTING_COUNTS


class Handover:
    """The files of one handover: n chunks, p postings, i inputs, v terms, h headings, q queries.

    Those of rows are several, see `StoredRows`: "inputs.blocks" stands for
    "inputs.blocks.offsets.npy" and "inputs.blocks.0.npy".
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.manifest = root / "handover.json"  # Whose it is; sizes and hashes of the others.

        self.inputs = root / "inputs.npy"  # (i,): what decides each, and what it became
        self.input_signatures = root / "inputs.signatures"  # Rows of bytes: what is compared,
        self.input_blocks = root / "inputs.blocks"  # rows of uint64: the keys of its blocks,
        self.input_remarks = root / "inputs.remarks"  # rows of bytes: what the report says.
        self.piece_counts = root / "pieces.npy"  # In how many chunks each piece occurs.

        self.chunk_lengths = root / CHUNK_LENGTHS  # uint32 (n,), in terms
        self.posting_counts = root / POSTING_COUNTS  # uint32 (p,)
        self.part_owners = root / "parts.owners.npy"  # uint32: ranks of heading terms, and those
        self.parts = root / "parts.npy"  # of a part of each; NO_TERM for one that is no term,
        self.parts_missing = root / "parts.missing.npy"  # whose uint64 hash is here.
        self.headings = root / "headings"  # Rows by document: hash, chunk, term, kind; and
        self.heading_texts = root / "headings.texts"  # rows of bytes, one a heading.
        self.links = root / "links"  # Rows by document: what its links ask for, and what else;
        self.addresses = root / "addresses"  # rows by document: what it is asked for by.

        self.word_forms = root / "words.forms.bin"  # Sorted, without separators.
        self.word_offsets = root / "words.offsets.npy"  # uint64: bytes
        self.word_counts = root / "words.counts.npy"  # int64: how often a form comes up
        self.are_words = root / "words.are.npy"  # bool: whether it is a word to the tokenizer
        self.language_words = root / "words.language.txt"  # Those of the language, a line each.
        self.offered = root / "offered"  # Rows by document: hashes of headings; and
        self.offered_texts = root / "offered.texts"  # rows of bytes, one a heading.
        self.offered_keys = root / "offered.keys.npy"  # uint64 (h,): hashes of those written
        self.offered_same = root / "offered.same.npy"  # bool: if a place's text is the last one's

        self.nearest_queries = root / "nearest.queries.npy"  # float32 (q, d), and what is nearest:
        self.nearest_chunks = root / "nearest.chunks.npy"  # int64 (q, depth): chunk numbers
        self.nearest_cosines = root / "nearest.cosines.npy"  # float32 (q, depth)

    def belongs_to(self, state: str, version: str) -> bool:
        """Return whether it is whole, and of a build of this `state` that gave this `version`.

        Raises OSError, ValueError or LookupError where there is none.
        """
        noted = json.loads(self.manifest.read_bytes())
        files = describe_files(self.root)
        del files[self.manifest.name]
        return bool(noted == {"state": state, "version": version, "files": files})


@contextmanager
def begun_handover(folder: Path) -> Iterator[Handover]:
    """Provide a handover to take the place of that in `folder`; gone afterwards unless it did."""
    written = folder.with_suffix(".tmp")
    shutil.rmtree(written, ignore_errors=True)
    written.mkdir()
    try:
        yield Handover(written)
    finally:
        shutil.rmtree(written, ignore_errors=True)


def finish_handover(written: Handover, folder: Path, state: str, version: str) -> None:
    """Move what a build has `written` to `folder`, in place of what was left there before."""
    described = {"state": state, "version": version, "files": describe_files(written.root)}
    written.manifest.write_bytes(encode_json(described))
    shutil.rmtree(folder, ignore_errors=True)
    written.root.rename(folder)
