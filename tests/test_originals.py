"""Original files, opened from a document's page in Chromium, and through an export."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import browser, playwright, visit
from conftest import CONFIG, MakeProject, Project, write_project
from document_files import Text, pdf
from servers import get, in_checkout, serving
from waiting import wait_until

pytestmark = pytest.mark.usefixtures("formatted_once")

PARTS = ("pump", "valve", "gauge")
MANUAL = pdf(
    [
        [
            Text(
                12,
                700 - 15 * line,
                f"The {part} is checked in round {line} of the shift, and noted.",
            )
            for line in range(30)
        ]
        for part in PARTS
    ]
)
FILES = {"manual.pdf": MANUAL, "notes/seal.html": "<h1>Seal</h1><p>A seal is of rubber.</p>"}
CHOSEN = f"{CONFIG}\n[server]\noriginals = true\n"
TOKEN = "secret-" + "x" * 40


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    files = {f"sources/{name}": content for name, content in FILES.items()}
    return write_project(tmp_path_factory.mktemp("project"), files, CHOSEN, built=True)


@pytest.fixture(scope="module")
def export(project: Project) -> Path:
    return in_checkout(project.export())


@pytest.fixture(scope="module")
def running() -> Iterator[Any]:
    with browser() as running:
        yield running


def open_manual(page: Any, link: Any) -> str:
    """Follow a link until the file is shown, or is saved by a browser without a PDF viewer.

    Headless shells have no viewer, Chromium and Chrome do. Returns the opened address, in this tab
    or a new one.
    """
    tabs, before, saved = page.context.pages, page.url, list[Any]()
    page.on("download", lambda download: saved.append(download))
    link.click()

    def shown() -> Any:
        page.wait_for_timeout(5)  # Playwright delivers events only during calls.
        opened = [page] if page.url != before else page.context.pages[len(tabs) :]
        return next((tab for tab in opened if tab.url not in {"", "about:blank"}), None)

    wait_until(lambda: bool(shown() or saved))
    if saved:
        assert Path(saved[0].path()).read_bytes() == MANUAL
        return str(saved[0].url)
    assert shown().evaluate("document.contentType") == "application/pdf"
    return str(shown().url)


def document(address: str, path: str) -> str:
    listed = get(f"{address}/documents")["documents"]
    (found,) = [each["id"] for each in listed if each["path"] == path]
    return str(found)


@pytest.mark.slow
def test_a_pdf_is_opened_at_the_page_of_the_passage(
    project: Project, export: Path, running: Any
) -> None:
    with serving(export, ORIGINALS=str(project.root / "sources")) as address:
        hit = get(f"{address}/search?q=gauge")["results"][0]
        page = hit["position"]["page"]
        assert page == 3
        with visit(running, address) as tab:
            wanted = f"/originals/{hit['document_id']}"
            for selector, place in (("#file", ""), ('[aria-current="true"] .part a', "#page=3")):
                tab.go(f"/d/{hit['document_id']}#{hit['id']}")
                link = tab.page.locator(selector)
                playwright.expect(link).to_have_attribute("href", wanted + place)
                assert open_manual(tab.page, link) == address + wanted + place
        with urllib.request.urlopen(f"{address}{wanted}") as answer:
            assert answer.read() == MANUAL
            assert answer.headers["Content-Type"] == "application/pdf"
            assert answer.headers["Content-Disposition"] == 'inline; filename="manual.pdf"'
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
        # Foreign HTML must not run scripts here.
        seal = document(address, "notes/seal.html")
        with urllib.request.urlopen(f"{address}/originals/{seal}") as answer:
            assert answer.headers["Content-Type"] == "text/html"
            assert answer.headers["Content-Disposition"] == 'inline; filename="seal.html"'
            assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src")
        with visit(running, address) as tab:
            tab.go(f"/d/{seal}")
            link = tab.page.locator("#file")
            playwright.expect(link).to_have_text("Open the file")
            link.click()
            playwright.expect(tab.page.locator("h1")).to_have_text("Seal")
            assert tab.page.url == f"{address}/originals/{seal}"
            assert tab.page.evaluate("origin") == "null"
        with visit(running, address) as tab:
            tab.go("/?q=gauge")
            link = tab.page.locator("#results a", has_text="Open the file: manual")
            playwright.expect(link).to_have_attribute("href", f"{wanted}#page=3")
            playwright.expect(link).to_have_attribute("tabindex", "-1")


@pytest.mark.slow
def test_a_token_is_sent_with_the_request(project: Project, export: Path, running: Any) -> None:
    variables = {"ORIGINALS": str(project.root / "sources"), "API_TOKENS": TOKEN}
    with serving(export, **variables) as address:
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{address}/originals/absent")
        with visit(running, address) as tab:
            tab.page.add_init_script(f"sessionStorage.setItem('token', '{TOKEN}')")

            def find(query: str) -> dict[str, Any]:
                headers = {"Authorization": f"Bearer {TOKEN}"}
                answer = tab.page.request.get(f"{address}/search?q={query}", headers=headers).json()
                return dict(answer["results"][0])

            hit = find("gauge")
            tab.go(f"/d/{hit['document_id']}#{hit['id']}")
            opened = open_manual(tab.page, tab.page.locator('[aria-current="true"] .part a'))
            assert opened.startswith(f"blob:{address}/")
            assert opened.endswith("#page=3")
            tab.go(f"/d/{find('seal')['document_id']}")
            with tab.page.expect_download() as download:
                tab.page.locator("#file").click()
            assert download.value.suggested_filename == "seal.html"
            assert Path(download.value.path()).read_text() == FILES["notes/seal.html"]


@pytest.mark.slow
def test_link_is_hidden_without_the_files(export: Path, running: Any) -> None:
    with serving(export) as address:
        manual = document(address, "manual.pdf")
        with visit(running, address) as tab:
            tab.go(f"/d/{manual}")
            tab.see("h1", "manual")
            tab.see(".part", "page 1")
            assert tab.page.locator("#file").inner_text() == ""
            assert tab.page.locator(".part a[href]").count() == 0
            # A missing file is not an error of the page.
            tab.complaints.clear()


def test_a_server_without_originals_has_no_files_of_it(make_project: MakeProject) -> None:
    project = make_project(FILES)
    project.succeed("build", "--quiet")
    files = [path for path in project.export().rglob("*") if path.is_file()]
    words = b"ORIGINALS", b"web.originals", b"originals.js", b'"/originals'
    assert not any(word in path.read_bytes() for path in files for word in words)
    assert not {"originals.py", "originals.js"} & {path.name for path in files}
