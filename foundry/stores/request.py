"""Options of publishing into an engine, and the outcome."""

from dataclasses import dataclass

GRACE_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class PublishOptions:
    """Options of publishing into an engine.

    Attributes:
        again: Load this version anew although the engine has it.
        grace: Seconds for which a version stays after another took its place.
        stale: Publish the index although foundry.toml asks for another one.
    """

    again: bool = False
    grace: float = GRACE_SECONDS
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Publication:
    """A version of an index in an engine.

    Attributes:
        engine: Its name in foundry.toml.
        name: Of the schema or alias.
        version: That of the index.
        chunks: How many the engine holds, as counted.
        postings: The same.
        recall: Of the dense lane at 100 against an exact search, on a sample; 1 if it is exact.
        difference: The largest difference of a score on that sample.
        loaded: Whether it had to be loaded; False where the engine had this version already.
        dropped: Older versions that were dropped.
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
