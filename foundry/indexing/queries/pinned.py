"""Writes the pinned answers, once all documents are known."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

from foundry.errors import ConfigError
from foundry.features.stages.results import PinnedAnswer
from foundry.files import CONFIG_NAME
from foundry.indexing.files import encode_json
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.stages.pinned import FILE, pinned_key

_HINT = "name a document by its path, its url or its id"


def write_pinned(
    layout: IndexLayout, answers: Sequence[PinnedAnswer], tokenizer: Tokenizer
) -> None:
    """Write the ids of pinned documents, by the keys of their queries.

    Raises ConfigError for a name that no document has, or several have.
    """
    named, known = _find(layout.documents, {answer.document for answer in answers})
    problems = []
    pinned: dict[str, list[str]] = defaultdict(list)
    for number, answer in enumerate(answers):
        place, ids = f"search.pinned.answers[{number}].document", named[answer.document]
        key = pinned_key(tokenizer, answer.query)
        assert key is not None
        if len(ids) == 1:
            pinned[key] += [one for one in ids if one not in pinned[key]]
        elif ids:
            problems.append(
                f"{place}: {answer.document!r} names {len(ids)} documents;"
                f" write the id of one: {', '.join(ids)}"
            )
        else:
            near = get_close_matches(answer.document, known, n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            problems.append(f"{place}: no document is called {answer.document!r}{meant}")
    if problems:
        raise ConfigError(CONFIG_NAME, problems, hint=_HINT)
    (layout.root / FILE).write_bytes(encode_json(dict(sorted(pinned.items()))))


def _find(documents: Path, wanted: Iterable[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Return the ids of documents by each of the `wanted` names, and the names of all documents."""
    found: dict[str, list[str]] = {name: [] for name in wanted}
    known: dict[str, None] = {}
    with documents.open("rb") as file:
        for record in map(json.loads, file):
            names = {record["id"]: None}
            for place in (record, *record["also_at"]):
                names |= dict.fromkeys(filter(None, (place["path"], place["url"])))
            known |= names
            for name in names.keys() & found.keys():
                found[name].append(record["id"])
    return found, [*known]
