"""Counts how much of a web source was fetched, and why the rest was not."""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from foundry.documents import Skipped
from foundry.documents.reasons import REMEDIES, AnyReason, Reason
from foundry.errors import SourceError
from foundry.fetching.addresses import ALLOWING
from foundry.runtime.index.names import indexed_name
from foundry.terminal import count_of

NOT_EXPECTED = frozenset(
    {
        Reason.DISALLOWED,
        Reason.NOINDEX,
        Reason.DUPLICATE_PAGE,
        Reason.OVER_MAX_PAGES,
        Reason.SITEMAP,
    }
)
"""Reasons that do not count: rules of the site, duplicates, `max_pages`, and sitemaps."""

MAX_LISTED = 1_000
"""How many urls are listed for each reason; the rest are only counted."""

_USER = re.compile(r"//[^/@\s]*@")
_SHOWN_REASONS = 5
_SHOWN_URLS = 3


@dataclass
class Coverage:
    """The outcome for each url of one source.

    `found` counts urls, each of which is fetched, unchanged (fetched by an earlier build and,
    according to the server, not modified since), refused or failed. `markdown` counts pages whose
    Markdown version was read. `skipped` lists refused and failed urls, up to MAX_LISTED for
    each reason.
    """

    source: str
    found: int = 0
    fetched: int = 0
    unchanged: int = 0
    markdown: int = 0
    refused: Counter[AnyReason] = field(default_factory=Counter)
    failed: Counter[AnyReason] = field(default_factory=Counter)
    skipped: list[Skipped] = field(default_factory=list)

    def miss(
        self, url: str, kind: Literal["refused", "failed"], reason: AnyReason, detail: str = ""
    ) -> None:
        """Count a url that did not yield a page."""
        self.found += 1
        counter = self.refused if kind == "refused" else self.failed
        counter[reason] += 1
        if counter[reason] <= MAX_LISTED:
            self.skipped.append(
                Skipped(self.source, _shown(url[:2_000]), reason, _shown(detail[:500]))
            )

    def hit(self, *, unchanged: bool, markdown: bool) -> None:
        """Count a page that was fetched in this build, or is unchanged since an earlier one."""
        self.found += 1
        self.fetched += not unchanged
        self.unchanged += unchanged
        self.markdown += markdown

    @property
    def share(self) -> float:
        """The share of urls that yielded a page; 0 if none did.

        Urls that were left out for a reason in NOT_EXPECTED do not count.
        """
        pages = self.fetched + self.unchanged
        left_out = sum(self.refused[reason] for reason in NOT_EXPECTED)
        return pages / (self.found - left_out) if pages else 0.0

    def values(self) -> dict[str, object]:
        """Return the section of the report, which does not depend on the cache."""
        return {
            "found": self.found,
            "pages": self.fetched + self.unchanged,
            "markdown": self.markdown,
            "refused": dict(sorted(self.refused.items())),
            "failed": dict(sorted(self.failed.items())),
            "coverage": round(self.share, 4),
        }

    def traffic(self) -> dict[str, int]:
        """Return how many pages were fetched and how many were unchanged."""
        return {"fetched": self.fetched, "unchanged": self.unchanged}

    def check(self, minimum: float, *, is_complete: bool) -> None:
        """Raise SourceError if the coverage is below `minimum` or unknown, unless that is 0."""
        if not minimum or (self.share >= minimum and is_complete):
            return
        gaps = [entry for entry in self.skipped if entry.reason not in NOT_EXPECTED]
        reasons = (self.refused + self.failed).most_common(_SHOWN_REASONS)
        lines = [f"  {count:,} x {reason}" for reason, count in reasons]
        lines += [f"  {entry.path}: {entry.reason}" for entry in gaps[:_SHOWN_URLS]]
        pages = self.fetched + self.unchanged
        what = (
            f"{pages:,} of {count_of(self.found, 'url')} yielded a page, a coverage of"
            f" {self.share:.1%}; min_coverage is {minimum:.1%}"
            if is_complete
            else f"{count_of(pages, 'page')} fetched, but a sitemap that may list more could not be"
            " read"
        )
        hint = "the previous index is kept; build again later, exclude failing pages, or lower the"
        hint += " source's min_coverage" + (
            f"; {ALLOWING}" if self.refused[Reason.PRIVATE_ADDRESS] else ""
        )
        hint += f"; {REMEDIES[Reason.SITEMAP]}" if self.refused[Reason.SITEMAP] else ""
        raise SourceError("\n".join([f"source {self.source}: {what}", *lines]), hint=hint)


def _shown(text: str) -> str:
    """Return a url in a form that is safe for an exported report: printable, without passwords."""
    return indexed_name(_USER.sub("//***@", text))
