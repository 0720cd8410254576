"use strict";

// The header of the document page: metadata and origin.

function showHead(record, about) {
  document.title = `${record.title} · ${byId("title").textContent}`;
  byId("heading").replaceChildren(isolated(record.title));
  const facts = [
    record.url ? isolated(record.url) : null,
    isolated(record.path),
    isolated(record.source),
    isolated(nameOfMediaType(record.media_type)),
    dateNode(record),
    plural(record.chunks, "passage"),
  ];
  byId("facts").replaceChildren(...joinedNodes(facts));
  const metadata = Object.entries(record.metadata);
  byId("further").replaceChildren(
    ...[
      metadata.length ? disclosure("Metadata", () => metadataNode(metadata, about.columns)) : null,
      alsoAtNode(record),
    ].filter(Boolean),
  );
  byId("tags").replaceChildren(
    ...record.tags.map((tag) =>
      element("li", {}, element("a", { href: `${ROOT}?${new URLSearchParams({ tag })}` }, isolated(tag))),
    ),
  );
  window.showFile?.(record);
}

/** Link to the original: the document's URL, at the page of a passage if there is one. */
function showOriginal(record, chunk) {
  const address = webAddress(record.url);
  byId("original").hidden = address === null;
  if (address === null) return;
  const part = partOf(chunk);
  byId("original").href = addressOfPart(address, chunk);
  byId("original").textContent = part ? `Open the original, ${part}` : "Open the original";
}

/** Save the content of a response, or show it, depending on the attributes of a link to it. */
async function openContent(answer, attributes, place = "") {
  const address = URL.createObjectURL(await answer.blob());
  element("a", { href: address + place, ...attributes }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

const MAX_CONTENTS = 2000;

/** Fetch the places of the document's passages, in order; only the first ones if there are many. */
async function fetchContents(record) {
  const places = [];
  while (places.length < Math.min(record.chunks, MAX_CONTENTS)) {
    const asked = `documents/${encodeURIComponent(record.id)}?offset=${places.length}`;
    const { contents } = await askJson(asked);
    if (contents.length === 0) break;
    places.push(...contents);
  }
  return places;
}

/** Show the document's headings if it has several; each links to its first passage. */
async function showContents(record) {
  const items = [];
  let path = [];
  for (const { id, section, position } of await fetchContents(record)) {
    const own = section[0] === record.title ? section.slice(1) : section;
    const common = own.findIndex((heading, level) => heading !== path[level]);
    path = own;
    if (common < 0) continue;
    for (let level = common; level < own.length; level += 1) {
      const link = element("a", { href: `#${encodeURIComponent(id)}` }, isolated(own[level]));
      const part = partOf({ path: record.path, position });
      const item = element("li", {}, link, part ? element("span", { class: "muted" }, ` ${part}`) : null);
      item.style.marginInlineStart = `${1.1 * level}rem`;
      items.push(item);
    }
  }
  byId("contents").hidden = items.length < 2;
  byId("contents").open = matchMedia("(min-width: 72rem)").matches;
  byId("contents").querySelector("ul").replaceChildren(...items);
}

/** The document's metadata; values that searches can be filtered by link to such a search. */
function metadataNode(metadata, columns) {
  const filterable = new Set(columns.map((column) => column.name));
  return element("dl", { class: "metadata" }, ...metadata.map(([name, value]) => {
    const filter = new URLSearchParams({ filter: `${name}=${value}` });
    const shown = isolated(value);
    return element(
      "div", {},
      element("dt", {}, isolated(name)),
      element("dd", {}, filterable.has(name) ? element("a", { href: `${ROOT}?${filter}` }, shown) : shown),
    );
  }));
}
