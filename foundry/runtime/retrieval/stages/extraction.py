"""Filter extraction: the language model finds filters in a query, such as a date or a status.

The model can only set declared fields, to values in the index, and with enough confidence. The
caller's own filters take precedence. Filters that would exclude everything are not applied.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from ...errors import InvalidRequestError
from ...index.reader import Index
from ...settings import SETTINGS_FILE, reading
from ..filters import FilterColumns, parse_filters
from .understanding import Understood

DATES = ("modified_after", "modified_before")
MAX_VALUES = 100  # The prompt lists the values of a field; fields with more values are skipped.
NOTHING_LEFT = "The filters found in the query were not applied: no passage matches all of them."

_WORDS = {
    "modified_after": "the date (YYYY-MM-DD) on or after which documents must have been changed",
    "modified_before": "the date (YYYY-MM-DD) before which documents must have been changed",
}
_OTHER = "which {} the query asks for"
_SHAPE = "; null unless the query says so, and how sure you are, from 0 to 1"


class FilterExtraction:
    """Extracts filters from the model's answer.

    `fields` are the filters that may be set; `confidence` is the minimum confidence, 0 to 1.
    """

    def __init__(self, fields: Sequence[str], *, confidence: float) -> None:
        self._fields = fields
        self._confidence = confidence

    def properties(self, index: Index) -> dict[str, tuple[str, dict[str, Any]]]:
        """Return a description and a JSON schema for each field: a value and a confidence."""
        return {
            name: (_WORDS.get(name, _OTHER.format(name)) + _SHAPE, _schema(values))
            for name, values in self._values(index).items()
        }

    def apply(
        self, answer: Mapping[str, Any], asked: Understood, index: Index
    ) -> tuple[Understood, dict[str, Any]]:
        """Merge the caller's filters with extracted ones, which the response lists as `filters`."""
        own = parse_filters(asked.filters)
        found: dict[str, str] = {}
        for name, values in self._values(index).items():
            value = _read(answer.get(name), values, self._confidence)
            if value is None or own.get(name):
                continue
            try:
                index.part(FilterColumns.open).select({name: value})
            except InvalidRequestError:
                continue
            found[name] = value
        if not found:
            return asked, {}
        combined = {**own, **found}
        allowed = index.part(FilterColumns.open).select(combined)
        if allowed is not None and not allowed.any():
            return asked, {"failed": NOTHING_LEFT, "filters": found}
        return replace(asked, filters=combined), {"filters": found}

    def _values(self, index: Index) -> dict[str, list[str] | None]:
        """Return the allowed values of each field; None for a date."""
        values: dict[str, list[str] | None] = {}
        for name in self._fields:
            if name in DATES:
                values[name] = None
                continue
            known = index.part(FilterColumns.open).known_values(name, MAX_VALUES)
            if known:
                values[name] = known
        return values


@cache
def extracted_fields(file: Path = SETTINGS_FILE) -> tuple[str, ...]:
    """Return the filters that settings.json allows to be set. Raises ConfigurationError."""
    with reading(file) as values:
        return tuple(map(str, values["understanding"]["extract"]))


def _schema(values: list[str] | None) -> dict[str, Any]:
    value: dict[str, Any] = {"type": "string"}
    if values is not None:
        value["enum"] = values
    found = {
        "type": "object",
        "properties": {"value": value, "confidence": {"type": "number"}},
        "required": ["value", "confidence"],
        "additionalProperties": False,
    }
    return {"anyOf": [found, {"type": "null"}]}


def _read(given: object, values: list[str] | None, least: float) -> str | None:
    """Return the value in the model's answer if it is valid and confident enough, else None."""
    if not isinstance(given, dict):
        return None
    value, confidence = given.get("value"), given.get("confidence")
    is_sure = isinstance(confidence, int | float) and least <= confidence <= 1
    is_known = isinstance(value, str) and (values is None or value in values)
    return value if is_sure and is_known and isinstance(value, str) else None
