"use strict";

// One result of a search: what it is, where it stands, and what belongs to it.

function resultNode(hit, matcher) {
  const title = element("a", { href: placeOf(hit.document_id, hit.id), class: "hit" });
  title.append(element("bdi", {}, ...markedNodes(hit.title, matcher(hit.title))));
  const tags = hit.tags.map((tag) => {
    const button = element("button", { type: "button", class: "tag", title: "Only with this tag" }, isolated(tag));
    button.addEventListener("click", () => chooseTags([...chosenTags, tag]));
    return element("li", {}, button);
  });
  const text = withoutHeadings(hit.text, [hit.title, ...hit.section]);
  const further = furtherNodes(hit, matcher);
  return element(
    "li", {},
    element(
      "article", {},
      element(
        "div", { class: "found" },
        element("h2", {}, title),
        element("p", { class: "where" }, ...joinedNodes(whereParts(hit, matcher))),
        element("p", { class: "snippet", dir: "auto" }, ...snippetNodes(plainLine(text), matcher)),
        further.length ? element("div", { class: "further" }, ...further) : null,
        tags.length ? element("ul", { class: "tags", "aria-label": "Tags" }, ...tags) : null,
      ),
      scoresNode(hit),
    ),
  );
}

function whereParts(hit, matcher) {
  const path = (hit.section[0] === hit.title ? hit.section.slice(1) : hit.section).join(" › ");
  const address = webAddress(hit.url);
  return [
    path ? element("bdi", {}, ...markedNodes(path, matcher(path))) : null,
    partOf(hit),
    hit.path === hit.title ? null : isolated(hit.path),
    about.sources?.length > 1 ? isolated(hit.source) : null,
    hit.modified ? element("time", { datetime: hit.modified }, hit.modified.slice(0, 10)) : null,
    address ? element("a", { href: addressOfPart(address, hit), rel: "noreferrer" }, new URL(address).host) : null,
  ];
}

/** What is shown on demand: the larger passage, what the result stands for, other places. */
function furtherNodes(hit, matcher) {
  const copies = hit.near_duplicates ?? [];
  return [
    hit.passage && hit.passage.text !== hit.text ? disclosure("Whole passage", () => passageNode(hit, matcher)) : null,
    copies.length ? disclosure(plural(copies.length, "near duplicate"), () => copiesNode(copies)) : null,
    hit.also_at.length ? disclosure(`Also in ${plural(hit.also_at.length, "other place")}`, () => placesNode(hit.also_at)) : null,
  ].filter(Boolean);
}

/** The larger passage around a result, with the words of the query marked. */
function passageNode({ passage, title, section }, matcher) {
  const text = withoutHeadings(passage.text, [title, ...section]);
  const node = element("div", { class: "text passage", dir: "auto" }, ...markdownNodes(text));
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts) text.replaceWith(...markedNodes(text.data, matcher(text.data)));
  return node;
}

/** The results that one stands for: links as soon as the server has said what they are. */
function copiesNode(ids) {
  return element("ul", { class: "places" }, ...ids.map((id) => {
    const item = element("li", {}, element("span", { class: "muted" }, "…"));
    askJson(`chunks/${encodeURIComponent(id)}`).then(
      (chunk) => {
        const link = element("a", { href: placeOf(chunk.document_id, chunk.id) }, isolated(chunk.title));
        item.replaceChildren(...joinedNodes([link, partOf(chunk), isolated(chunk.path)]));
      },
      (error) => item.replaceChildren(error.message),
    );
    return item;
  }));
}
