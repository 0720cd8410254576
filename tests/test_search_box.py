"""The search box of an exported server on pages of other sites, in Chromium."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import pytest
from browsers import Visit, browser, playwright, visit
from conftest import write_project
from filelock import FileLock
from node_packages import NODE
from servers import get, in_checkout, run_uv, serving
from web_sites import Reply, Site
from web_sites import serving as serve_site

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("formatted_once")]

HOSTILE = "<img src='http://evil.example/i.png' onerror=\"document.title = 'taken'\">"
CONFIG = """
[project]
name = "handbook"

[[sources]]
type = "folder"
path = "sources"
base_url = "SITE/"
url_suffix = ""

[[sources]]
type = "records"
path = "table.jsonl"

[search.suggestions]
[search.correction]

[server]
search_box = true
allowed_origins = ["SITE"]
"""
SOURCES = {
    "ventilation.md": "# Ventilation\n\nFresh air has to reach every face.\n\n## The main fan\n\n"
    "It is never stopped while people are below.\n",
    "lamps.md": "# Lamps\n\nA lamp burns for nine hours.\n",
}
RECORDS = [
    {"id": "1", "title": f"Parrot {HOSTILE}", "text": f"A parrot says {HOSTILE} and no more."},
    {"id": "2", "title": "Script", "text": "A cave is dark.", "url": "javascript:alert(1)"},
]
PAGE = """<!doctype html>
<html lang="en"><head><title>A site</title><style>{style}</style>{head}</head>
<body><main><h1>A site</h1><p><a id="find" href="/elsewhere">Find</a> <input id="field"
aria-label="A field"></p></main></body></html>"""
CRUEL = "body * { display: none !important; color: red !important; font-size: 90px !important }"
POLICY = (
    "default-src 'none'; style-src 'none'; script-src SERVER; connect-src SERVER;"
    " require-trusted-types-for 'script'; trusted-types 'none'"
)
ROOT = Path(__file__).parent.parent
DOCUMENTED = (ROOT / "docs" / "search-box.md").read_text(encoding="utf-8")
MKDOCS = Path(sys.prefix) / "mkdocs-of-tests"
"""Kept between runs, so that only the first needs the network."""


@dataclass(frozen=True)
class Served:
    """A server with a search box, two sites, of which it allows one, and a browser."""

    running: Any
    address: str
    site: Site
    stranger: Site


def write_page(address: str, attributes: str = "", *, style: str = "", more: str = "") -> Reply:
    script = f'<script src="{address}/search.js" defer {attributes}></script>{more}'
    return Reply(PAGE.format(style=style, head=script).encode())


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    files = {**SOURCES, "./table.jsonl": "\n".join(map(json.dumps, RECORDS))}
    with serve_site({}) as site, serve_site({}) as stranger:
        config = CONFIG.replace("SITE", site.url)
        project = write_project(tmp_path_factory.mktemp("project"), files, config, built=True)
        with browser() as running, serving(in_checkout(project.export())) as address:
            plain = write_page(address)
            stranger.routes["/"] = plain
            cruel = write_page(address, style=CRUEL)
            policy = POLICY.replace("SERVER", address)
            site.routes |= {
                "/": plain,
                "/cruel": cruel,
                "/strict": Reply(
                    plain.body.replace(b"<style></style>", b""),
                    headers={"Content-Security-Policy": policy},
                ),
                "/own": write_page(address, 'data-open="#find" data-placeholder="Ask &lt;us&gt;"'),
                "/dark": write_page(address, style="html { background: #111; color: #eee }"),
                "/told": write_page(address, 'data-theme="dark"'),
                "/tagged": write_page(
                    address, 'data-filters="source=table-jsonl&amp;source=table"'
                ),
                "/twice": write_page(address, more=f'<script src="{address}/search.js"></script>'),
                "/lamps": Reply(PAGE.format(style="", head="").encode()),
                "/ventilation": Reply(PAGE.format(style="", head="").encode()),
            }
            yield Served(running, address, site, stranger)


@pytest.fixture
def tab(served: Served) -> Iterator[Visit]:
    with visit(served.running, served.site.url, beside=served.address) as visited:
        yield visited


def ask(tab: Visit, query: str, path: str = "/") -> None:
    """Open the box by its key, and search."""
    tab.go(path)
    tab.page.keyboard.press("Control+k")
    tab.focused("search-box input")
    tab.page.keyboard.type(query)
    playwright.expect(tab.page.locator("search-box .status")).not_to_be_empty()
    tab.settle()


def test_search_works_from_another_origin(tab: Visit, served: Served) -> None:
    ask(tab, "how long does a lamp burn")
    hit = tab.page.locator("search-box .hit").first
    playwright.expect(hit.locator(".title")).to_have_text("Lamps")
    playwright.expect(hit.locator("mark").first).to_be_visible()
    assert hit.get_attribute("href") == f"{served.site.url}/lamps"
    tab.see("search-box .status", "result")
    assert any(url.startswith(f"{served.address}/suggest?q=") for url in tab.requests)
    assert tab.page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [
        *(0, 0, "")
    ]
    globals_now = tab.page.evaluate("typeof STYLE + typeof ask + typeof element")
    assert globals_now == "undefined" * 3
    tab.page.keyboard.press("Enter")
    tab.at("/lamps")


def test_result_links_to_its_heading_or_to_the_servers_page(tab: Visit, served: Served) -> None:
    ask(tab, "may the main fan be stopped")
    address = tab.page.locator("search-box .hit").first.get_attribute("href")
    assert address == f"{served.site.url}/ventilation#:~:text=The%20main%20fan"
    tab.page.fill("search-box input", "what does the parrot say")
    tab.see("search-box .hit", "Parrot")
    hit = get(f"{served.address}/search?q=what+does+the+parrot+say")["results"][0]
    address = tab.page.locator("search-box .hit").first.get_attribute("href")
    assert address == f"{served.address}/d/{hit['document_id']}#{hit['id']}"


def test_the_focus_stays_when_results_are_refreshed(tab: Visit) -> None:
    keys, page = tab.page.keyboard, tab.page
    tab.go("/")
    page.focus("#find")
    keys.press("/")
    keys.type("the")
    hits = page.locator("search-box .hit")
    playwright.expect(hits.first).to_be_visible()
    # The word counts as finished two seconds after the last letter, and is then searched for again.
    with page.expect_response(lambda answer: "/search?" in answer.url, timeout=20_000):
        keys.press("ArrowDown")
        keys.press("ArrowDown")
    playwright.expect(page.locator("search-box .status")).not_to_be_empty()
    playwright.expect(hits.nth(1)).to_be_focused()


def test_keyboard_alone(tab: Visit) -> None:
    keys, page = tab.page.keyboard, tab.page
    tab.go("/")
    page.focus("#field")
    keys.type("a/")
    tab.holds("#field", "a/")
    tab.hidden("search-box dialog")
    page.focus("#find")
    keys.press("/")
    tab.focused("search-box input")
    tab.holds("search-box input", "")
    keys.type("the")
    hits = page.locator("search-box .hit")
    playwright.expect(hits.first).to_be_visible()
    tab.settle()
    keys.press("ArrowDown")
    playwright.expect(hits.nth(0)).to_be_focused()
    keys.press("ArrowDown")
    playwright.expect(hits.nth(1)).to_be_focused()
    for _ in range(9):
        keys.press("ArrowDown")
    playwright.expect(hits.last).to_be_focused()
    keys.press("Tab")
    tab.focused("search-box input")
    keys.press("Shift+Tab")
    playwright.expect(hits.last).to_be_focused()
    for _ in range(9):
        keys.press("ArrowUp")
    tab.focused("search-box input")
    # Keyboard shortcuts of the site do not react to typing here.
    page.evaluate("addEventListener('keydown', ({ key }) => (window.heard ??= []).push(key))")
    keys.type("s/")
    tab.holds("search-box input", "thes/")
    keys.press("Escape")
    tab.hidden("search-box dialog")
    assert page.evaluate("window.heard") is None
    tab.focused("#find")
    keys.press("Meta+k")
    tab.focused("search-box input")
    keys.press("Control+k")
    tab.hidden("search-box dialog")
    tab.focused("#find")
    for chord in ("Control+Shift+k", "Alt+k", "Control+/", "k"):
        keys.press(chord)
    tab.hidden("search-box dialog")


def test_pointer_opens_and_closes(tab: Visit) -> None:
    tab.go("/")
    tab.page.click("search-box .launch")
    tab.focused("search-box input")
    tab.page.click("search-box >> text=Close")
    tab.hidden("search-box dialog")
    tab.page.click("search-box .launch")
    tab.page.mouse.click(5, 5)
    tab.hidden("search-box dialog")
    tab.go("/own")
    tab.hidden("search-box .launch")
    tab.page.click("#find")
    tab.focused("search-box input")
    assert tab.page.get_attribute("search-box input", "placeholder") == "Ask <us>"
    # The site's own link was not followed.
    tab.at("/own")


def test_suggestions_complete_the_query(tab: Visit) -> None:
    ask(tab, "ventil")
    tab.page.click("search-box .suggestions button")
    tab.focused("search-box input")
    tab.holds("search-box input", "Ventilation")
    tab.see("search-box .hit", "Ventilation")
    tab.page.fill("search-box input", "ventlation")
    tab.see("search-box .status", "Showing results for: ventilation")
    tab.page.fill("search-box input", "")
    tab.hidden("search-box .suggestions")
    tab.count("search-box .hit", 0)


def test_hostile_text_is_only_text(tab: Visit) -> None:
    ask(tab, "parrot")
    title = tab.page.locator("search-box .hit .title").first
    playwright.expect(title).to_have_text(f"Parrot {HOSTILE}")
    assert tab.page.locator("search-box img").count() == 0
    assert tab.page.title() == "A site"
    answer = get(f"{tab.page.evaluate('document.scripts[0].src')[:-10]}/search?q=cave")
    for url in ("javascript:alert(1)", "data:text/html,x", "//evil.example", "x", None):
        answer["results"] = [{**answer["results"][0], "url": url}]
        tab.page.route("**/search?*", lambda route: route.fulfill(json=answer))
        tab.page.fill("search-box input", f"cave {url}")
        tab.see("search-box .status", "1 result.")
        tab.settle()
        address = tab.page.locator("search-box .hit").get_attribute("href")
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/d/.+", address), url


def test_styles_and_policies_of_the_site_do_not_break_the_box(tab: Visit, served: Served) -> None:
    for path in ("/cruel", "/strict"):
        ask(tab, "lamp", path)
        hit = tab.page.locator("search-box .hit .title").first
        playwright.expect(hit).to_be_visible()
        shown = "node => [getComputedStyle(node).fontSize, getComputedStyle(node).fontWeight]"
        assert hit.evaluate(shown) == ["16px", "600"]
    assert served.site.asked("/strict")


@pytest.mark.parametrize(
    ("path", "scheme", "is_dark"),
    [
        ("/", "dark", False),
        ("/dark", "light", True),
        ("/told", "light", True),
    ],
)
def test_box_adopts_the_sites_style(served: Served, path: str, scheme: str, is_dark: bool) -> None:
    options = {"color_scheme": scheme, "beside": served.address}
    with visit(served.running, served.site.url, **options) as tab:
        ask(tab, "lamp", path)
        paper = "node => getComputedStyle(node).backgroundColor"
        dialog = tab.page.locator("search-box dialog")
        light, dark = "rgb(252, 251, 248)", "rgb(21, 23, 27)"
        assert dialog.evaluate(paper) == (dark if is_dark else light)
        # Later changes by the site take effect.
        letters = "light" if not is_dark else "dark"
        colour = "#eee" if letters == "light" else "#111"
        tab.page.evaluate(f"document.documentElement.style.color = '{colour}'")
        follows = path != "/told"
        expected = (light if is_dark else dark) if follows else dark
        playwright.expect(dialog).to_have_css("background-color", expected)


@pytest.mark.parametrize(("path", "width"), [("/", 1280), ("/told", 390)])
def test_box_has_no_violation_found_by_axe(served: Served, path: str, width: int) -> None:
    size = {"width": width, "height": 800}
    with visit(served.running, served.site.url, viewport=size, beside=served.address) as tab:
        tab.go(path)
        assert tab.violations() == []
        for query in ("lamp", "ventil", "zzzqx"):
            ask(tab, query, path)
            assert tab.violations() == []
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= width


def test_origin_that_is_not_allowed_gets_nothing(served: Served) -> None:
    with visit(served.running, served.stranger.url, beside=served.address) as tab:
        ask(tab, "lamp")
        tab.see("search-box .status", "The search cannot be reached from this page.")
        tab.count("search-box .hit", 0)
        # Chromium logs that CORS kept the response from the page.
        assert tab.complaints
        assert all("blocked by CORS policy" in each for each in tab.complaints)
        tab.complaints.clear()


def test_filters_narrow_every_search(tab: Visit) -> None:
    ask(tab, "the lamp", "/tagged")
    titles = tab.page.locator("search-box .hit .title").all_inner_texts()
    assert not {"Lamps", "Ventilation"} & set(titles)


def test_script_loaded_twice_adds_one_box(tab: Visit) -> None:
    ask(tab, "lamp", "/twice")
    tab.count("search-box", 1)
    # A site that replaces its body by scripts keeps the search box.
    tab.page.keyboard.press("Escape")
    tab.page.evaluate("document.body.replaceChildren()")
    tab.page.keyboard.press("Control+k")
    tab.focused("search-box input")


def test_failure_is_reported(tab: Visit) -> None:
    tab.page.route("**/search?*", lambda route: route.abort())
    ask(tab, "lamp")
    tab.see("search-box .status", "The search cannot be reached from this page.")
    tab.page.unroute("**/search?*")
    answer = {"status": 503, "json": {"detail": "Try again later."}}
    tab.page.route("**/search?*", lambda route: route.fulfill(**answer))
    tab.page.keyboard.press("Enter")
    tab.see("search-box .status", "Try again later.")


def example(language: str, address: str) -> str:
    """Return the documentation's example in a language, for the server at an address."""
    (found,) = re.findall(rf"(?s)```{language}\n(.*?)```", DOCUMENTED)
    assert "https://search.example.com" in found
    return str(found).replace("https://search.example.com", address)


def test_the_documented_line_suffices(tab: Visit, served: Served) -> None:
    line = example("html", served.address)
    served.site.routes["/line"] = Reply(PAGE.format(style="", head=line).encode())
    ask(tab, "lamp", "/line")
    tab.see("search-box .hit", "Lamps")


def run_mkdocs(folder: Path) -> None:
    """Build a site with MkDocs from the extra `docs`, in the locked version."""
    with FileLock(f"{MKDOCS}.lock"):
        if not (MKDOCS / "complete").exists():
            locked = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]
            versions = {each["name"]: each["version"] for each in locked if "version" in each}
            known = MKDOCS.with_suffix(".txt")
            known.write_text("".join(f"{name}=={versions[name]}\n" for name in versions))
            run_uv("venv", "--clear", MKDOCS)
            constrained = ["--constraint", known, f"mkdocs=={versions['mkdocs']}"]
            run_uv("pip", "install", "--python", MKDOCS, *constrained)
            (MKDOCS / "complete").touch()
    command = [MKDOCS / "bin" / "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_box_in_an_mkdocs_site(tab: Visit, served: Served, tmp_path: Path) -> None:
    # With `highlightjs`, the theme would load the colours of code from another host.
    theme = "site_name: A site\ntheme:\n  name: mkdocs\n  highlightjs: false\n"
    written = example("yml", served.address)
    (tmp_path / "mkdocs.yml").write_text(theme + written, encoding="utf-8")
    (tmp_path / "docs").mkdir()
    for name, text in {"index.md": "# Welcome\n", **SOURCES}.items():
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    run_mkdocs(tmp_path)
    kinds = {".css": "text/css", ".js": "text/javascript", ".html": "text/html"}
    for path in (tmp_path / "site").rglob("*.*"):
        name = f"/mkdocs/{path.relative_to(tmp_path / 'site').as_posix()}"
        kind = kinds.get(path.suffix, "application/octet-stream")
        served.site.routes[name] = Reply(path.read_bytes(), kind=kind)
    ask(tab, "how long does a lamp burn", "/mkdocs/lamps/index.html")
    tab.see("search-box .hit .title", "Lamps")
    # The theme opens its help with this shortcut.
    tab.page.keyboard.type("?")
    tab.holds("search-box input", "how long does a lamp burn?")
    tab.hidden("#mkdocs_keyboard_modal")


def test_box_in_a_docusaurus_site(tab: Visit, served: Served) -> None:
    """Tests only the configuration, on a page with the tags that Docusaurus generates from it."""
    show = "; console.log(JSON.stringify(config))"
    written = example("js", served.address).replace("export default", "const config =")
    run = [NODE, "--input-type=module", "--eval", written.strip().rstrip(";") + show]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    config = json.loads(done.stdout)
    (script,), (item,) = config["scripts"], config["themeConfig"]["navbar"]["items"]
    attributes = "".join(
        f" {name}" if value is True else f' {name}="{escape(value)}"'
        for name, value in script.items()
    )
    page = PAGE.format(style="", head=f"<script{attributes}></script>")
    page = page.replace("<main>", f"<nav>{item['value']}</nav><main>").replace('id="find" ', "")
    served.site.routes["/docusaurus"] = Reply(page.encode())
    tab.go("/docusaurus")
    tab.hidden("search-box .launch")
    tab.page.click("#find")
    tab.page.keyboard.type("lamp")
    tab.see("search-box .hit", "Lamps")
