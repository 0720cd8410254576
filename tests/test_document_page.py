"""A page of a manual as a document: its code is shown in blocks, and its links work."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from browsers import Visit, browser, playwright, visit
from conftest import write_project
from servers import get, in_checkout, serving

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("formatted_once")]

CONFIG = """
[project]
name = "manual"

[[sources]]
type = "folder"
path = "sources"
base_url = "https://manual.example/"
url_suffix = ""
"""
OTHERS = 12
"""Other pages of the manual."""

PART = """## Part {number}

Part {number} begins with [the first step](../guide/page-{other}.mdx), as [this
page](/guide/page-{other}) and [its end](page-{other}#the-end) tell. See
[the standard](https://standard.example/{number}) too.

1. Open the valve of part {number}:
   ```python
{in_list}
   ```
2. Close it again.

<Tabs>
  <Tab title="Linux {number}">
    On Linux, run this:

    ```bash
{in_tab}
    ```
  </Tab>
  <Tab title="Windows {number}">
    There is nothing to run.
  </Tab>
</Tabs>

<Warning>
Never open part {number} by hand.
</Warning>

### All of part {number}

```python
{whole}
```
"""
END = """## The end

[A script](javascript:alert(1)), [a letter](mailto:a@b.example) and [[Nowhere]] are no links of a
page. But [the beginning](#part-1) is, and <https://auto.example/>.
"""
PARTS = 12

CLICKED = """# Behind a click

Choose a system[^1], or see <kbd>Ctrl</kbd>, and <img src=x onerror="alert(1)">.

=== "Linux `<b>`"

    Turn the flywheel.

=== "Windows"

    Turn the sprocket.

=== "[Home](javascript:alert(1))"

    ![x](javascript:alert(1)) <script>alert(1)</script>

<details>
<summary>Why?</summary>

Because of the ratchet.

</details>

??? note "More"
    Of the pawl.

- [x] Done

```mermaid title="<b>"
graph TD
```

[^1]: A note.
"""
SHOWN = """# As on its site

Use `#!python x = 1`, __Bold__, ==this== and ~~that~~ of [[Lost pages]].

!!! warning "Before [the steps](steps.mdx)"

    Close the valve.

Flywheel

:   A wheel.

\\begin{align*}
a &= b \\\\
c &= d
\\end{align*}

## Of the `first` set

=== "Linux"

    Oil it.

=== "Windows"

    Grease it.

## Of the second set

=== "Windows"

    Polish it.

=== "Linux"

    Paint it.
"""


def write_code(marks: Iterator[int], count: int, indent: int) -> str:
    lines = (f"step_{next(marks):04}(pressure=1.5, valve=open_valve)" for _ in range(count))
    # Lines are indented like code, and at least as far as their fence.
    return "\n".join(
        f"{' ' * indent}{'    ' * (place % 3)}{line}" for place, line in enumerate(lines)
    )


def write_page() -> tuple[str, list[str]]:
    """Write a page with code in every kind of place; returns the lines of its code in order."""
    marks = iter(range(10_000))
    parts = []
    for number in range(1, PARTS + 1):
        parts.append(
            PART.format(
                number=number,
                other=number % OTHERS,
                in_list=write_code(marks, 4, 3),
                in_tab=write_code(marks, 5, 4),
                whole=write_code(marks, 60, 0),
            )
        )
    text = "# Steps\n\nHow the machine is run.\n\n" + "\n".join(parts) + "\n" + END
    return text, [f"step_{number:04}" for number in range(next(marks))]


TEXT, STEPS = write_page()
LINKS = 4 * PARTS + 5


@dataclass(frozen=True)
class Served:
    """A server of the manual, the document of the page, and a browser."""

    running: Any
    address: str
    document: str
    ids: dict[str, str]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    files = {"steps.mdx": TEXT, "clicked.md": CLICKED, "shown.md": SHOWN}
    for number in range(OTHERS):
        text = f"# Page {number}\n\nIt is about valve {number}.\n\n## The end\n\nOf {number}.\n"
        files[f"page-{number}.mdx"] = text
    guide = {f"sources/guide/{name}": text for name, text in files.items()}
    project = write_project(tmp_path_factory.mktemp("project"), guide, CONFIG, built=True)
    with browser() as running, serving(in_checkout(project.export())) as address:
        documents = get(f"{address}/documents")["documents"]
        ids = {document["path"]: document["id"] for document in documents}
        yield Served(running, address, ids["guide/steps.mdx"], ids)


def show_whole(tab: Visit, served: Served) -> None:
    """Show all passages of the page."""
    tab.go(f"/d/{served.document}")
    count = len(get(f"{served.address}/chunks?document={served.document}&limit=100")["chunks"])
    assert count > PARTS
    shown = tab.page.locator(".passage")
    while (before := shown.count()) < count:
        tab.page.keyboard.press("End")
        playwright.expect(shown).not_to_have_count(before)


@pytest.fixture
def tab(served: Served) -> Iterator[Visit]:
    with visit(served.running, served.address) as visited:
        show_whole(visited, served)
        yield visited


def test_all_code_is_in_code_blocks(tab: Visit) -> None:
    blocks = tab.page.locator("#passages pre code").all_text_contents()
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    assert [line.split("(")[0].strip() for line in lines] == STEPS
    # The text of an item is read without the code inside the item.
    prose = tab.page.locator("#passages :is(p, li, h2, h3, h4, h5)").evaluate_all(
        "nodes => nodes.map((node) => [...node.childNodes].filter((one) => one.className !== "
        "'code-block').map((one) => one.textContent).join(''))"
    )
    assert [text for text in prose if "step_" in text] == []
    # Indents are relative to the fence.
    depths = [len(line) - len(line.lstrip()) for line in lines[:9]]
    assert depths == [0, 4, 8, 0, 0, 4, 8, 0, 4]
    assert tab.page.locator(".code-block .copy").count() == len(blocks)


def test_links_have_the_right_text_and_target(tab: Visit, served: Served) -> None:
    shown = tab.page.locator("#passages .text a").evaluate_all(
        "links => links.map((link) => [link.textContent, link.getAttribute('href')])"
    )
    assert len(shown) == LINKS - 3
    assert TEXT.count("](") + TEXT.count("[[") + TEXT.count("<https:") == LINKS == 53
    # A label may continue on the next line.
    assert sum(words == "this\npage" for words, _ in shown) == PARTS
    page = f"/d/{served.ids['guide/page-1.mdx']}"
    assert [address for _, address in shown[:4]] == [
        *(page, page, f"{page}#the-end", "https://standard.example/1")
    ]
    assert shown[-2:] == [["the beginning", "#part-1"], ["https://auto.example/"] * 2]


def test_headings_labels_and_callouts_are_kept(tab: Visit) -> None:
    ranks = tab.page.locator("#passages :is(h1, h2, h3, h4, h5, h6)").evaluate_all(
        "found => found.map((heading) => heading.tagName + ' ' + heading.textContent)"
    )
    expected = [
        heading
        for number in range(1, PARTS + 1)
        for heading in (f"H2 Part {number}", f"H3 All of part {number}")
    ]
    assert [each for each in ranks if "Part" in each or "part" in each] == expected
    text = tab.page.locator("#passages").inner_text()
    for number in (1, PARTS):
        for label in (f"Linux {number}", f"Windows {number}"):
            assert label in text
    callouts = tab.page.locator("#passages .callout").all_inner_texts()
    assert [each.split("\n") for each in map(str.strip, callouts)] == [
        ["Warning", "", f"Never open part {number} by hand."] for number in range(1, PARTS + 1)
    ]


@pytest.mark.parametrize(("width", "is_open"), [(1600, True), (390, False)])
def test_outline_is_beside_the_text_or_closed(served: Served, width: int, is_open: bool) -> None:
    size = {"width": width, "height": 900}
    with visit(served.running, served.address, viewport=size) as tab:
        tab.go(f"/d/{served.document}")
        outline, text = tab.page.locator("#contents"), tab.page.locator("#passages")
        playwright.expect(outline).to_be_visible()
        assert outline.evaluate("node => node.open") is is_open
        boxes = [each.bounding_box() for each in (outline, text)]
        beside = boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] or (
            boxes[0]["x"] >= boxes[1]["x"] + boxes[1]["width"]
        )
        assert beside is is_open
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width


def test_tabs_and_closed_blocks_work_by_keyboard(served: Served) -> None:
    with visit(served.running, served.address) as tab:
        tab.go(f"/d/{served.ids['guide/clicked.md']}")
        keys, chosen = tab.page.keyboard, tab.page.locator("[role=tab]:focus")
        for _ in range(30):
            keys.press("Tab")
            if chosen.count():
                break
        names = []
        for key in ("ArrowRight", "ArrowRight", "ArrowRight", "End", "ArrowLeft", "Home"):
            keys.press(key)
            names.append(chosen.inner_text())
            assert tab.page.locator(".tab-panel:not([hidden])").count() == 1
        first, second, third = "Linux <b>", "Windows", "Home"
        assert names == [second, third, first, third, second, first]
        keys.press("ArrowRight")
        playwright.expect(tab.page.get_by_text("Turn the sprocket.")).to_be_visible()
        ratchet = tab.page.get_by_text("Because of the ratchet.")
        playwright.expect(ratchet).not_to_be_visible()
        keys.press("Tab")
        keys.press("Enter")
        playwright.expect(ratchet).to_be_visible()
        keys.press("Enter")
        tab.page.emulate_media(media="print")
        tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        for words in ("Turn the flywheel.", "Turn the sprocket.", "Because of the ratchet."):
            playwright.expect(tab.page.get_by_text(words)).to_be_visible()
        playwright.expect(tab.page.locator("p.tab-title", has_text="Windows")).to_be_visible()
        tab.page.evaluate("dispatchEvent(new Event('afterprint'))")
        playwright.expect(tab.page.locator("details.closed[open]")).to_have_count(0)


def test_all_tabs_with_a_label_switch_together(served: Served) -> None:
    with visit(served.running, served.address) as tab:
        tab.go(f"/d/{served.ids['guide/shown.md']}")
        for label, shown, hidden in (
            ("Windows", ("Grease it.", "Polish it."), ("Oil it.", "Paint it.")),
            ("Linux", ("Oil it.", "Paint it."), ("Grease it.", "Polish it.")),
        ):
            tab.page.get_by_role("tab", name=label).last.click()
            for words in shown:
                playwright.expect(tab.page.get_by_text(words)).to_be_visible()
            for words in hidden:
                playwright.expect(tab.page.get_by_text(words)).to_be_hidden()


def test_markup_of_generators_is_shown_as_on_their_sites(served: Served) -> None:
    with visit(served.running, served.address) as tab:
        tab.go(f"/d/{served.ids['guide/shown.md']}")
        text = tab.page.locator("#passages")
        for selector, words in (
            ("code", "x = 1"),
            ("strong", "Bold"),
            (".highlighted", "this"),
            ("del", "that"),
            (".callout-title", "Before the steps"),
            (".callout-title a", "the steps"),
            ("dt", "Flywheel"),
            ("dd", "A wheel."),
        ):
            playwright.expect(text.locator(selector, has_text=words).first).to_have_text(words)
        playwright.expect(text.locator("p").first).to_have_text(
            "Use x = 1, Bold, this and that of Lost pages."
        )
        assert text.locator(".formula math mtr").count() == 2
        headings = text.locator("h2, h3").all_inner_texts()
        assert headings == ["Of the first set", "Of the second set"]


@pytest.mark.parametrize("word", ["sprocket", "ratchet", "pawl"])
def test_a_hit_in_a_closed_block_is_shown(served: Served, word: str) -> None:
    with visit(served.running, served.address) as tab:
        tab.go(f"/?q={word}")
        tab.page.locator("a.hit").first.click()
        playwright.expect(tab.page.locator("mark", has_text=word)).to_be_visible()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_marked_up_text_is_accessible_and_inert(served: Served, scheme: str, width: int) -> None:
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    with visit(served.running, served.address, **options) as tab:
        tab.go(f"/d/{served.ids['guide/clicked.md']}")
        for node in tab.page.locator("details.closed").all():
            node.evaluate("node => { node.open = true; }")
        assert tab.violations() == []
        assert tab.page.locator("#passages :is(img, script, b, [onerror])").count() == 0
        assert tab.page.locator("a[href^=javascript]").count() == 0


def test_snippets_begin_at_a_sentence_and_show_code(served: Served) -> None:
    hits = get(f"{served.address}/search?q=never+open+part+7+by+hand&top_k=5")["results"]
    assert any("Never open part" in hit["snippet"] for hit in hits)
    for hit in hits:
        assert hit["snippet"].lstrip("\N{HORIZONTAL ELLIPSIS} ")[:1] not in "([{,;)]}"
        code = {at for start, end in hit.get("snippet_code", []) for at in range(start, end)}
        found = hit["snippet"].find("step_")
        assert found < 0 or found in code, hit["snippet"]
