"""Options and outcome of publishing into an engine."""

from dataclasses import dataclass

GRACE_SECONDS = 3600.0
INCREMENTAL_QUESTIONS = 5
"""Searches of each lane that are compared if a version shares rows with a published one."""

AGAIN = "publish with --again, which loads this version again"
"""The hint when an engine lacks part of a version."""


@dataclass(frozen=True, slots=True)
class PublishOptions:
    """Options of publishing into an engine.

    With `again`, the version is loaded even if the engine has it; with `stale`, even if it is not
    what foundry.toml asks for. A superseded version is kept for `grace` seconds. With `records`,
    records of chunks and documents are loaded too.
    """

    again: bool = False
    grace: float = GRACE_SECONDS
    stale: bool = False
    records: bool = False


@dataclass(frozen=True, slots=True)
class Publication:
    """A version of an index in the schema or collection `name` of an engine.

    On a sample of queries, `recall` is that of the dense lane at 100 against an exact search, and
    `difference` the largest between two scores of a chunk. `loaded` is False if the engine had the
    version already.
    """

    engine: str
    name: str
    version: str
    chunks: int
    postings: int
    recall: float
    difference: float
    loaded: bool
    dropped: tuple[str, ...]
