"""A real browser for tests: whatever a page loads, logs or violates is remembered."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

EXECUTABLE = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Even what a page must not ask for would not leave this machine.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
WATCH = """
addEventListener("securitypolicyviolation", (event) => {
  console.error(`violation of ${event.violatedDirective}: ${event.blockedURI} ${event.sample}`);
});
"""

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")


@dataclass
class Visit:
    """A tab of its own, and what it has done."""

    page: Any
    address: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        """Open a page and wait until it has fetched what it shows."""
        self.page.goto(self.address + path)
        self.page.wait_for_load_state("networkidle")

    def see(self, selector: str, text: str) -> None:
        """Wait until an element has this text in it."""
        playwright.expect(self.page.locator(selector).first).to_contain_text(text)

    def count(self, selector: str, expected: int) -> None:
        """Wait until there are so many elements."""
        playwright.expect(self.page.locator(selector)).to_have_count(expected)

    @property
    def focused(self) -> str:
        """The text of the focused element, or its id."""
        return str(
            self.page.evaluate("document.activeElement.id || document.activeElement.textContent")
        )

    @property
    def path(self) -> str:
        """Where the tab is, without scheme and host."""
        return str(self.page.url.removeprefix(self.address))


@contextmanager
def browser() -> Iterator[Any]:
    """Run Chromium; skips the test where there is none."""
    if EXECUTABLE is None:
        pytest.skip("no Chromium: install the package chromium")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=EXECUTABLE, args=ARGUMENTS)
        yield running
        running.close()


@contextmanager
def visit(running: Any, address: str, **options: Any) -> Iterator[Visit]:
    """Open a tab; when it is closed, nothing must have left the machine or been complained of.

    A message about a refused request (401, 404 ...) is none: pages are told of those.
    """
    context = running.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    context.set_default_timeout(10_000)
    context.add_init_script(WATCH)
    visited = Visit(context.new_page(), address)
    context.on("request", lambda request: visited.requests.append(request.url))
    visited.page.on("pageerror", lambda error: visited.complaints.append(str(error)))
    visited.page.on(
        "console",
        lambda message: (
            visited.complaints.append(message.text)
            if message.type in {"error", "warning"}
            and "Failed to load resource" not in message.text
            else None
        ),
    )
    try:
        yield visited
        assert visited.complaints == []
        abroad = [
            url for url in visited.requests if not url.startswith((address, "data:", "blob:"))
        ]
        assert abroad == []
    finally:
        context.close()
