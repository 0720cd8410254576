"""Separates a page's content from its surroundings, and visible from hidden elements."""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from foundry.documents.left_out import Omission
from foundry.readers.formats.pages.footnotes import find_notes
from foundry.readers.formats.pages.root import find_root
from foundry.readers.formats.pages.steps import find_steps
from foundry.readers.formats.pages.tabs import controlled_ids, name_panels
from foundry.readers.formats.pages.tree import SEMANTICS, Attributes, in_classes, shows_code

_SECTIONS = frozenset(
    "article main section blockquote figure li td th dd details fieldset aside".split()
)
_SCRIPTS = frozenset(("script", "style", "template"))
_UNSEEN = frozenset("noscript canvas audio video iframe datalist frameset noframes".split())
_FORM = frozenset(("select", "input", "textarea", "optgroup", "option"))
_NAVIGATION_ROLES = frozenset(
    "navigation search menu menubar toolbar directory doc-toc doc-index doc-pagelist".split()
)
_NOTE_ROLES = frozenset(
    "note alert status doc-footnote doc-footnotes doc-endnote doc-endnotes doc-tip doc-notice"
    " doc-example doc-pullquote doc-epigraph doc-biblioentry doc-bibliography doc-glossary".split()
)
_NOTE = re.compile(
    r"(?:^|[\s_-])(?:admonition|alert|attention|callout|caution|citation|danger|epigraph|error"
    r"|example|footnotes?|endnotes?|rearnotes?|hint|important|info|infobox|note(?:s|box)?|pullquote|sidenote"
    r"|marginnote|tip|topic|warn(?:ing)?)(?:$|[\s_-])",
    re.IGNORECASE,
)
_SURROUNDING = re.compile(
    r"(?:^|[\s_-])(?:ads?|advert\w*|banner|breadcrumbs?|cookies?|menu|nav(?:bar|igation)?"
    r"|newsletter|on-?this-?page|pagination|promo|related|share|sharing|sitemap|social|sponsor\w*"
    r"|toc|table-of-contents|mw-editsection|printfooter|skip-?link|skip-to-content)(?:$|[\s_-])",
    re.IGNORECASE,
)
# Elements in which DocBook's style sheets put the titles of other pages, and GitBook the results of
# a search; and Doxygen's tooltips, which are shown beside names in code.
_NAVIGATION_LINE = re.compile(r"(?:^|\s)(?:nav(?:header|footer)|search-results|ttc)(?:$|\s)")
_SOURCE_LINK = re.compile(
    r"(?:^|\s)(?:src(?:link)?|viewcode-link|source-?link|documentation-source|icon-action)(?:$|\s)",
    re.IGNORECASE,
)
_SOURCE_WORDS = re.compile(r"\W*(?:view )?source(?: code)?\W*", re.IGNORECASE)
_PRINTED = re.compile(r"(?:^|\s)(?:only-?print|print-?only|visible-print(?:-block)?)(?:$|\s)")
_TABBED = re.compile(
    r"(?:^|[\s_-])(?:tab(?:bed)?-?(?:pane|panel|content|block|item)s?|accordion|collapse|collapsible"
    r"|panel|details|expand\w*|toggle|slide|carousel)(?:$|[\s_-])",
    re.IGNORECASE,
)
_INVISIBLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_PERMALINK = re.compile(
    r"(?:^|[\s_-])(?:headerlink|header-?anchor|heading-?(?:anchor|link)|hash-?link|anchor(?:-?link|js)?"
    r"|anchorjs-link|doc-anchor|direct-link|perma-?link|section-?link|deep-?link|copy-?link)"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_PERMALINK_SIGNS = re.compile(r"[\s¶§#🔗⚓∞◆🖇⛓➰↩↵⤴↑⏎^\ufe0e\ufe0f\u200b-\u200d\ufeff\xa0]*")
_LINE_NUMBER = re.compile(
    r"(?:^|[\s_-])(?:linenos?|lineno(?:div|s)?|gutter|lnt?|blob-num|hljs-ln-(?:n|numbers|line-numbers)"
    r"|line-?nums?|line-?numbers?(?:-rows)?|linenumbers?|line_numbers?)(?:$|[\s_-])",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"[\s\d.:|+-]*")
_WORD = re.compile(r"\w")
_EQUATION = re.compile(r"katex|mjx|mathjax|mwe-math", re.IGNORECASE)
_EQUATION_SOURCE = "mwe-math-mathml"
"""Class of MediaWiki's MathML, which pages hide; they show a picture of the equation."""


class Content:
    """Decides which parts of a page are left out, and why.

    `root` is the element that contains the content. `labels` are the names of tabs by the `mem_id`
    of the panels that they show, and `notes` the marks of footnotes by the ids of their elements.
    """

    def __init__(
        self,
        page: LexborHTMLParser,
        markup: str,
        *,
        is_book: bool = False,
        reads_noscript: bool = False,
    ) -> None:
        """Examine a page; a chapter of a book has no site navigation."""
        self._is_book, self._reads_noscript = is_book, reads_noscript
        self._controlled = controlled_ids(page) if "aria-" in markup or "data-" in markup else set()
        self.labels, self._used_tabs = name_panels(page) if "tab" in markup else ({}, set())
        # In a book, each chapter repeats the marks of notes.
        may_have_notes = not is_book and ("note" in markup or "fn" in markup)
        self.notes = find_notes(page) if may_have_notes else {}
        self._steps = set[int]() if is_book else find_steps(page)
        self.root = page.body if is_book else find_root(page)

    def omission(self, node: LexborNode, tag: str, attributes: Attributes) -> Omission | None:
        """Return why an element is left out; None for content."""
        if tag in _SCRIPTS:
            is_tex = (attributes.get("type") or "").startswith("math/tex")
            return None if is_tex else Omission.SCRIPT
        if tag in _UNSEEN:
            return None if tag == "noscript" and self._reads_noscript else Omission.HIDDEN
        if tag in _FORM:
            return None if shows_code(node) else Omission.FORM
        if node.mem_id in self._used_tabs:
            return Omission.DUPLICATE
        if node.mem_id in self._steps:
            return Omission.NAVIGATION
        if tag == "img" and _shows_equation(node, attributes):
            return Omission.DUPLICATE
        if not attributes:
            return self._of_region(node, tag, attributes) if tag in _REGIONS else None
        if self.is_hidden(node, attributes):
            is_copy = tag.startswith(("mjx", "nobr")) or in_classes(_EQUATION, attributes)
            return Omission.DUPLICATE if is_copy else Omission.HIDDEN
        role = attributes.get("role") or ""
        if role == "doc-pagebreak" or "pagebreak" in (attributes.get(SEMANTICS) or ""):
            return Omission.NAVIGATION
        if tag == "button" or (role == "button" and tag not in {"summary", "a"}):
            return None if _opens(node, attributes) else Omission.FORM
        if tag == "dialog" and "open" not in attributes:
            return Omission.HIDDEN
        if role in _NAVIGATION_ROLES and tag not in {"body", "main"}:
            return Omission.NAVIGATION
        if tag in _REGIONS or role in _REGION_ROLES:
            return self._of_region(node, tag, attributes)
        if "class" in attributes or "breadcrumb" in (attributes.get("id") or ""):
            return self._of_class(node, tag, attributes)
        return None

    def is_hidden(self, node: LexborNode, attributes: Attributes) -> bool:
        """Return whether an element is hidden, even after a click on a tab."""
        if _EQUATION_SOURCE in (attributes.get("class") or ""):
            return False
        state = attributes.get("hidden", "shown")
        is_hidden = state != "shown" and (state or "").lower() != "until-found"
        is_hidden = is_hidden or attributes.get("aria-hidden") == "true"
        style = attributes.get("style")
        is_hidden = is_hidden or bool(style and _INVISIBLE.search(style))
        if not is_hidden:
            return False
        is_panel = attributes.get("role") == "tabpanel" or in_classes(_TABBED, attributes)
        is_panel = is_panel or attributes.get("id") in self._controlled
        return not is_panel or node.css_first("math") is not None

    def _of_region(self, node: LexborNode, tag: str, attributes: Attributes) -> Omission | None:
        role = attributes.get("role") or ""
        kind = attributes.get(SEMANTICS) or ""
        if tag == "nav" or tag == "search":
            return Omission.NAVIGATION
        if tag == "button":
            return None if _opens(node, attributes) else Omission.FORM
        if tag == "dialog":
            return None if "open" in attributes else Omission.HIDDEN
        if tag == "aside" and (role in _NOTE_ROLES or kind or in_classes(_NOTE, attributes)):
            return None
        if kind or role.startswith("doc-") or in_classes(_NOTE, attributes):
            return None
        if in_classes(_SURROUNDING, attributes) or _is_mostly_links(node):
            return Omission.NAVIGATION
        if tag == "aside" and role != "complementary":
            return None
        if any(parent in _SECTIONS for parent in _ancestors(node)):
            return None
        if self._is_book:
            return None
        if tag == "header" and node.css_first("h1") is not None:
            return None
        return Omission.NAVIGATION

    def _of_class(self, node: LexborNode, tag: str, attributes: Attributes) -> Omission | None:
        if is_line_number(node, attributes):
            return Omission.NAVIGATION
        if tag == "summary" and "hideme" in (attributes.get("class") or ""):
            # Rustdoc hides this label of a description unless the description is closed.
            return Omission.NAVIGATION
        written = attributes.get("class") or ""
        if _NAVIGATION_LINE.search(written):
            return Omission.NAVIGATION
        if _PRINTED.search(written):
            return Omission.HIDDEN
        if _SOURCE_LINK.search(written) and _SOURCE_WORDS.fullmatch(node.text()):
            return Omission.NAVIGATION
        if written == "lang" and node.parent and _names_language(node.parent.attributes):
            return Omission.DUPLICATE
        is_surrounding = tag in {"div", "ul", "ol", "span", "p", "section"} and in_classes(
            _SURROUNDING, attributes
        )
        if is_surrounding and "mw-editsection" in written:
            return Omission.NAVIGATION
        return Omission.NAVIGATION if is_surrounding and _is_mostly_links(node) else None


_REGIONS = frozenset("nav search aside header footer dialog button".split())
_REGION_ROLES = frozenset(("contentinfo", "banner", "complementary"))


def _names_language(attributes: Attributes) -> bool:
    """Return whether VitePress shows the language of a block of code as a word before it."""
    return (attributes.get("class") or "").startswith("language-")


def _shows_equation(node: LexborNode, attributes: Attributes) -> bool:
    """Return whether a picture shows an equation whose MathML is beside it."""
    is_copy = "mwe-math-fallback" in (attributes.get("class") or "")
    return is_copy and node.parent is not None and node.parent.css_first("math") is not None


def is_permalink(node: LexborNode, attributes: Attributes) -> bool:
    """Return whether a link is the mark beside a heading that links to that heading."""
    if "href" not in attributes and not in_classes(_PERMALINK, attributes):
        return False
    text = node.text()
    if _PERMALINK_SIGNS.fullmatch(text):
        return node.css_first("img") is None
    if not in_classes(_PERMALINK, attributes):
        return False
    # Some generators make the heading itself the link.
    parent = node.parent
    whole = parent.text() if parent is not None else ""
    return bool(_WORD.search(whole.replace(text, "", 1)))


def is_line_number(node: LexborNode, attributes: Attributes) -> bool:
    """Return whether an element has line numbers of code."""
    return in_classes(_LINE_NUMBER, attributes) and bool(_NUMBERS.fullmatch(node.text()))


def _opens(node: LexborNode, attributes: Attributes) -> bool:
    """Return whether a button's text is a title, for example of an accordion that it opens."""
    if "aria-expanded" in attributes or "aria-controls" in attributes:
        return True
    if any(name.endswith(("-toggle", "-target")) for name in attributes):
        return True
    title = node.parent
    while title is not None and not _TITLES & {title.tag, title.attributes.get("role")}:
        title = title.parent
    # Beside the text of a heading, a button is a tool, such as one that copies the name.
    return title is not None and not _WORD.search(title.text().replace(node.text(), "", 1))


_TITLES = frozenset("h1 h2 h3 h4 h5 h6 dt summary legend caption figcaption heading".split())


def _ancestors(node: LexborNode) -> Iterator[str]:
    parent = node.parent
    while parent is not None and parent.tag not in {"body", "html"}:
        yield parent.tag or ""
        parent = parent.parent


def _is_mostly_links(node: LexborNode) -> bool:
    text = sum(map(len, node.text().split()))
    linked = sum(sum(map(len, link.text().split())) for link in node.css("a[href]"))
    return linked * 2 >= text and text > 0
