"""Options of publishing into an engine, and the outcome."""

from dataclasses import dataclass

GRACE_SECONDS = 3600.0
STEP_QUESTIONS = 5
"""Searches of each lane that are compared if a version shares rows with one that was compared."""

AGAIN = "publish with --again, which loads this version again"
"""The hint when an engine lacks part of a version."""


@dataclass(frozen=True, slots=True)
class PublishOptions:
    """Options of publishing into an engine.

    With `again`, this version is loaded although the engine has it; with `stale`, although
    foundry.toml asks for another one. A version stays for `grace` seconds after another has
    replaced it. With `records`, texts and places are loaded too.
    """

    again: bool = False
    grace: float = GRACE_SECONDS
    stale: bool = False
    records: bool = False


@dataclass(frozen=True, slots=True)
class Publication:
    """A version of an index in an engine, where its schema or collection is called `name`.

    `chunks` and `postings` are as the engine counts them. On a sample, `recall` is that of the
    dense lane at 100 against an exact search, and `difference` the largest of a score. `loaded` is
    False where the engine had this version already.
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
