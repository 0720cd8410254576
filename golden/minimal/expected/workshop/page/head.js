"use strict";

// The head of a document's page: what the document is, and where it was found.

function showHead(record, about) {
  document.title = `${record.title} · ${byId("title").textContent}`;
  byId("heading").replaceChildren(isolated(record.title));
  const address = webAddress(record.url);
  const facts = [
    address ? element("a", { href: address, rel: "noreferrer" }, isolated(address)) : null,
    record.url && !address ? isolated(record.url) : null,
    isolated(record.path),
    isolated(record.source),
    isolated(nameOfMediaType(record.media_type)),
    record.modified ? element("time", { datetime: record.modified }, record.modified.slice(0, 10)) : null,
    plural(record.chunks, "passage"),
  ];
  byId("facts").replaceChildren(...joinedNodes(facts));
  const metadata = Object.entries(record.metadata);
  byId("further").replaceChildren(
    ...[
      metadata.length ? disclosure("Metadata", () => metadataNode(metadata, about.columns)) : null,
      record.also_at.length
        ? disclosure(`Also in ${plural(record.also_at.length, "other place")}`, () => placesNode(record.also_at))
        : null,
    ].filter(Boolean),
  );
  byId("tags").replaceChildren(
    ...record.tags.map((tag) =>
      element("li", {}, element("a", { href: `${ROOT}?${new URLSearchParams({ tag })}` }, isolated(tag))),
    ),
  );
}

/** What the document says about itself; a value that searches can be filtered by leads to one. */
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
