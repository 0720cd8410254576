"""Options and outcome of publishing into an engine."""

from dataclasses import dataclass

GRACE_SECONDS = 3600.0
INCREMENTAL_QUESTIONS = 5
"""Number of searches compared in each lane if most rows of a version are in the engine already."""

AGAIN = "publish with --again, which reloads this version"
"""The hint when an engine lacks part of a version."""

UNCHANGED = "the published version is unchanged"
NOT_DROPPED = "the new version is published, but older ones were not dropped"
"""The part of an error message on the versions in an engine."""


@dataclass(frozen=True, slots=True)
class PublishOptions:
    """Options for publishing into an engine.

    With `again`, the version is loaded even if the engine has it; with `stale`, even if it does not
    match foundry.toml. A superseded version is kept for `grace` seconds. With `records`, records of
    chunks and documents are loaded too.
    """

    again: bool = False
    grace: float = GRACE_SECONDS
    stale: bool = False
    records: bool = False


@dataclass(frozen=True, slots=True)
class Publication:
    """A version of an index in the schema or collection `name` of an engine.

    On a sample of queries, `recall` is the dense lane's recall@100 compared with an exact search,
    and `difference` the largest difference between two scores of the same chunk. `loaded` is False
    if the engine had the version already.
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
