"""Makes the pictures in docs/pictures/: pages of a server for `examples/handbook`, in Chromium.

No test compares them: run the script again when the pages have changed, and look at the result.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote_plus
from urllib.request import urlopen

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "examples" / "handbook"
PICTURES = ROOT / "docs" / "pictures"
MAX_PICTURE_BYTES = 200_000

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDE = ViewportSize(width=1100, height=760)
NARROW = ViewportSize(width=390, height=844)
CHOSEN = "\n[search.facets]\n\n[server]\nfolders = true\n"
"""Settings that new projects have, but the example does not."""
QUESTION = "How many cubic feet of air must reach a working face?"


@contextmanager
def serving() -> Iterator[str]:
    """Serve a copy of the example on a free port; yields its address."""
    with TemporaryDirectory() as folder:
        names = shutil.ignore_patterns(".foundry", "dist")
        copy = shutil.copytree(PROJECT, Path(folder) / "handbook", ignore=names)
        with (copy / "foundry.toml").open("a", encoding="utf-8") as config:
            config.write(CHOSEN)
        command: list[str | Path] = [
            sys.executable,
            "-m",
            "foundry",
            "serve",
            copy,
            "--no-watch",
            "--port",
            "0",
        ]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            assert process.stdout is not None
            try:
                said = ""
                while not (address := re.search(r"listening on (http://\S+?:\d+)", said)):
                    line = process.stdout.readline()
                    if not line:
                        raise SystemExit(f"the server did not start: {said}")
                    said += line
                # The first search is slower than all later ones, so it must not be in a picture.
                urlopen(f"{address[1]}/search?q={quote_plus(QUESTION)}").close()
                yield address[1]
            finally:
                process.terminate()


def show_results(page: Page, address: str) -> None:
    """Search for the question."""
    page.goto(f"{address}/?q={quote_plus(QUESTION)}")
    page.locator("#results > li").first.wait_for()


def show_explanation(page: Page, address: str) -> None:
    """Open the explanation of the results."""
    show_results(page, address)
    page.click("#explanation summary")


def show_folder(page: Page, address: str) -> None:
    """Open a folder."""
    page.goto(f"{address}/browse")
    page.click("#contents a")
    page.locator("#contents li").first.wait_for()


def show_document(page: Page, address: str) -> None:
    """Follow the first result to its document."""
    show_results(page, address)
    page.click("#results h2 a")
    page.locator(".passage[aria-current]").wait_for()
    page.click("#contents summary")


def show_answer(page: Page, address: str) -> None:
    """Ask the chat, which has no language model and quotes passages."""
    page.goto(f"{address}/chat")
    page.fill("#question", "What is an aboleth thrall?")
    page.keyboard.press("Enter")
    page.locator(".turn .sources").first.wait_for()


def take(
    browser: Browser,
    address: str,
    name: str,
    show: Callable[[Page, str], None],
    viewport: ViewportSize = WIDE,
    *,
    is_dark: bool = False,
) -> None:
    """Write one picture. Raises SystemExit if it is too large for the repository."""
    page = browser.new_page(
        viewport=viewport,
        color_scheme="dark" if is_dark else "light",
        reduced_motion="reduce",
    )
    show(page, address)
    page.wait_for_load_state("networkidle")
    page.mouse.move(1, 1)
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    picture = page.screenshot(path=PICTURES / f"{name}.png")
    page.close()
    print(f"{name}.png: {len(picture):,} bytes")
    if len(picture) > MAX_PICTURE_BYTES:
        raise SystemExit(f"{name}.png: larger than {MAX_PICTURE_BYTES:,} bytes")


def main() -> None:
    """Write every picture."""
    if CHROMIUM is None:
        raise SystemExit("no Chromium: install the package chromium")
    PICTURES.mkdir(exist_ok=True)
    with serving() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        take(browser, address, "search", show_results)
        take(browser, address, "search-dark", show_results, is_dark=True)
        take(browser, address, "search-narrow", show_results, NARROW)
        take(browser, address, "explanation", show_explanation)
        take(browser, address, "browse", show_folder)
        take(browser, address, "document", show_document)
        take(browser, address, "chat", show_answer)
        browser.close()


if __name__ == "__main__":
    main()
