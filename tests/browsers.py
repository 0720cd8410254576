"""A real browser for tests; it records what a page loads, logs or violates."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from chromium import REMEDY, find_chromiums
from node_packages import node_modules
from playwright import sync_api as playwright
from waiting import wait_until

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Even forbidden requests would not leave this machine.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
WATCH = """
addEventListener("securitypolicyviolation", (event) => {
  console.error(`violation of ${event.violatedDirective}: ${event.blockedURI} ${event.sample}`);
});
// What the page has asked for and not read to its end; between two of a series no task ends.
window.awaited = 0;
for (const [owner, name] of [
  [window, "fetch"], ...["blob", "json", "text"].map((name) => [Response.prototype, name]),
]) {
  const call = owner[name];
  owner[name] = function (...given) {
    awaited += 1;
    return call.apply(this, given).finally(() => { awaited -= 1; });
  };
}
"""
SEEN = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
ITS_OWN = ("data:", "blob:", "chrome:", "chrome-extension:")
"""URL schemes that stay inside the browser, whose PDF viewer is an extension."""

PATIENCE_MS = 120_000
"""Timeout for conditions that will hold; long, since the machine may be busy."""

playwright.expect.set_options(timeout=PATIENCE_MS)


@dataclass
class Visit:
    """A separate tab, and a record of what it did."""

    page: Any
    address: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        """Open a page and wait until its requests have ended."""
        self.page.goto(self.address + path)
        self.settle()

    def at(self, path: str) -> None:
        """Wait until the tab is at this address and its requests have ended.

        A page changes its address in the same task that sends the search, so this waits for the
        results of the new search, not of the previous one.
        """
        playwright.expect(self.page).to_have_url(self.address + path)
        self.settle()

    def settle(self) -> None:
        """Wait until the page's requests have ended."""
        # `wait_for_function` would not work: the pages' policy forbids evaluation.
        settled = "document.readyState === 'complete' && awaited === 0"
        wait_until(lambda: bool(self.page.evaluate(settled)))

    def see(self, selector: str, text: str) -> None:
        """Wait until an element contains this text."""
        playwright.expect(self.page.locator(selector).first).to_contain_text(text)

    def count(self, selector: str, expected: int) -> None:
        """Wait until there are this many elements."""
        playwright.expect(self.page.locator(selector)).to_have_count(expected)

    def hidden(self, selector: str) -> None:
        """Wait until an element is hidden or absent."""
        playwright.expect(self.page.locator(selector).filter(visible=True)).to_have_count(0)

    def focused(self, selector: str) -> None:
        """Wait until an element has the focus."""
        playwright.expect(self.page.locator(selector).first).to_be_focused()

    def holds(self, selector: str, value: str) -> None:
        """Wait until a field has this value."""
        playwright.expect(self.page.locator(selector)).to_have_value(value)

    def violations(self) -> list[tuple[str, list[str]]]:
        """Return the accessibility rules that axe finds violated, each with its elements."""
        axe = node_modules("axe-core") / "axe-core" / "axe.min.js"
        self.page.evaluate(axe.read_text(encoding="utf-8"))
        # Without this option, axe would describe every element that satisfies a rule.
        found = self.page.evaluate("axe.run({resultTypes: ['violations']})")
        assert len(found["passes"]) > 10
        return [
            (each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]
        ]


@contextmanager
def browser() -> Iterator[Any]:
    """Run the first Chromium that starts."""
    with playwright.sync_playwright() as started:
        running = start(started.chromium)
        # Without a tab, the browser would be closed and reopened for the next test.
        open_window(running).new_page()
        yield running
        running.close()


def start(chromium: Any) -> Any:
    """Start the first Chromium that works; fails with the output of each one if none does."""
    refusals = []
    try:
        for found in find_chromiums(chromium.executable_path):
            try:
                return chromium.launch(
                    executable_path=found.program,
                    env={**os.environ, **found.variables},
                    args=ARGUMENTS,
                    timeout=PATIENCE_MS,
                )
            except playwright.Error as error:
                refusals.append(f"{found.program}: {error.message}")
    except AssertionError as error:
        refusals.append(str(error))
    raise AssertionError("\n".join([REMEDY, *refusals]))


def open_window(running: Any, **options: Any) -> Any:
    """Open a window whose tabs share nothing with other windows."""
    window = running.new_context(**{**SEEN, **options})
    window.set_default_timeout(PATIENCE_MS)
    window.add_init_script(WATCH)
    return window


@contextmanager
def visit(
    running: Any, address: str, *, alone: bool = False, beside: str | None = None, **options: Any
) -> Iterator[Visit]:
    """Open a tab; once closed, check that nothing left the machine and no error was logged.

    A tab may only request its own address, or the one given as `beside`.

    Pages store nothing outside their tab, so tabs without options share a window, which is faster.
    With `alone`, a tab gets its own window, whose clock can be set. A message about a refused
    request (401, 404 ...) is not an error, because pages handle it.
    """
    window = open_window(running, **options) if alone or options else running.contexts[0]
    visited = Visit(window.new_page(), address)

    def remember(request: Any) -> None:
        visited.requests.append(request.url)

    window.on("request", remember)
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
        assert visited.complaints == [], visited.complaints
        known = (address, beside or address, *ITS_OWN)
        abroad = [url for url in visited.requests if not url.startswith(known)]
        assert abroad == []
        assert not window.cookies()
    finally:
        if window is running.contexts[0]:
            window.remove_listener("request", remember)
            for page in window.pages[1:]:
                page.close()
        else:
            window.close()
