"use strict";

// A search result, which is a document: its best passage, its origin, and further passages.

/** The passages of a result, best first. */
const passagesOf = (hit) => [hit, ...(hit.more ?? [])];

/** Create a result. It is a single tab stop; the left and right arrow keys reach its other controls. */
function resultNode(hit, asked) {
  const node = articleNode(hit, asked);
  for (const control of node.querySelectorAll(CONTROLS)) {
    if (!control.matches(".hit")) control.tabIndex = -1;
  }
  return node;
}

const CONTROLS = "a, button, summary";

/** Move the focus by `step` controls of a result; returns whether there is one. */
function moveWithin(result, step) {
  const controls = [...result.querySelectorAll(CONTROLS)].filter((control) => control.checkVisibility());
  const place = controls.indexOf(document.activeElement);
  controls[place + step]?.focus();
  return place >= 0;
}

function articleNode(hit, asked) {
  const title = element("a", { href: placeOf(hit.document_id, hit.id), class: "hit" });
  title.append(element("bdi", {}, ...markedNodes(hit.title, hit.highlights.title)));
  const tags = hit.tags.map((tag) => {
    const button = element("button", { type: "button", class: "tag", title: "Only with this tag" }, isolated(tag));
    button.addEventListener("click", () => chooseTags([...chosenTags, tag]));
    return element("li", {}, button);
  });
  const further = furtherNodes(hit);
  return element(
    "li", {},
    element(
      "article", {},
      element(
        "div", { class: "found" },
        element("h2", {}, title),
        element("p", { class: "where" }, ...joinedNodes(whereParts(hit)), window.fileOfResult?.(hit)),
        element("p", { class: "snippet", dir: "auto" }, ...markedNodes(hit.snippet, hit.highlights.snippet, hit.snippet_code)),
        hit.more ? element("ul", { class: "more", "aria-label": "Further passages" }, ...hit.more.map(moreNode)) : null,
        further.length ? element("div", { class: "further" }, ...further) : null,
        window.thumbsNode?.(hit, asked) ?? null,
        tags.length ? element("ul", { class: "tags", "aria-label": "Tags" }, ...tags) : null,
      ),
      scoresNode(hit),
    ),
  );
}

/** Another passage of the same document: its headings or its part, and its beginning. */
function moreNode(hit) {
  const path = headingNodes(hit);
  const link = element("a", { href: placeOf(hit.document_id, hit.id) });
  link.append(element("bdi", {}, ...(path.length ? path : [partOf(hit) ?? hit.title])));
  const snippet = markedNodes(hit.snippet, hit.highlights.snippet, hit.snippet_code);
  return element("li", {}, link, element("p", { class: "snippet", dir: "auto" }, ...snippet));
}

/** The headings above a passage in a row, without the document's title. */
function headingNodes({ title, section, highlights }) {
  const first = section[0] === title ? 1 : 0;
  return section.slice(first).flatMap((heading, place) => [
    place ? " › " : "", ...markedNodes(heading, highlights.section[first + place]),
  ]);
}

function whereParts(hit) {
  const path = headingNodes(hit);
  const address = webAddress(hit.url);
  const label = ["Copy link", element("span", { class: "unseen" }, ": ", isolated(hit.title))];
  const place = () => new URL(placeOf(hit.document_id, hit.id), location.href).href;
  return [
    hit.path === hit.title ? null : isolated(hit.path),
    dateNode(hit),
    hit.pinned ? "pinned by the owner" : null,
    about.sources?.length > 1 ? isolated(hit.source) : null,
    partOf(hit),
    path.length ? element("bdi", {}, ...path) : null,
    address ? element("a", { href: addressOfPart(address, hit), rel: "noreferrer" }, new URL(address).host) : null,
    copyButton(label, place, { class: "quiet" }),
  ];
}

/** Content shown on demand: the parent passage, and other places of the text. */
function furtherNodes(hit) {
  return [
    hit.passage && hit.passage.text !== hit.text ? disclosure("Whole passage", () => passageNode(hit)) : null,
    alsoAtNode(hit),
  ].filter(Boolean);
}

/** The parent passage of a result, with the query's words highlighted. */
function passageNode(hit) {
  const text = withoutHeadings(hit.passage.text, [hit.title, ...hit.section]);
  const node = element("div", { class: "text passage", dir: "auto" }, ...markdownNodes(text));
  markWithin(node, foundWords(hit));
  return node;
}
