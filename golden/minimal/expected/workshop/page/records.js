"use strict";

// What the documents and passages of an answer are called, and where they are.

/** The place of a passage in its document. */
const placeOf = (documentId, chunkId) =>
  `${ROOT}d/${encodeURIComponent(documentId)}#${encodeURIComponent(chunkId)}`;

const PARTS = { pptx: "slide", ppt: "slide", odp: "slide", xlsx: "sheet", xls: "sheet", ods: "sheet" };

/** What a passage is on, in words: a page, a slide or a sheet; null if its document has none. */
function partOf({ path, position }) {
  const page = position?.page;
  if (page === undefined) return null;
  const ending = path.toLowerCase().split(".").at(-1);
  const printed = position.page_label === undefined ? "" : ` (printed ${position.page_label})`;
  return `${PARTS[ending] ?? "page"} ${number(page)}${printed}`;
}

/** The address of a document at a passage's page, where browsers know how to go there. */
function addressOfPart(address, { position }) {
  const page = position?.page;
  const isPdf = new URL(address).pathname.toLowerCase().endsWith(".pdf");
  return page && isPdf && !address.includes("#") ? `${address}#page=${page}` : address;
}

/** Where else a text was found: copies of its document, and documents that have it too. */
const alsoAtNode = ({ also_at: places = [] }) =>
  places.length ? disclosure(`Also in ${plural(places.length, "other place")}`, () => placesNode(places)) : null;

const placesNode = (places) =>
  element("ul", { class: "places" }, ...places.map((place) => {
    const address = webAddress(place.url);
    const link = address ? element("a", { href: address, rel: "noreferrer" }, isolated(address)) : null;
    const title = element("a", { href: `${ROOT}d/${encodeURIComponent(place.document_id)}` }, isolated(place.title));
    const path = place.title === place.path ? null : isolated(place.path);
    return element("li", {}, ...joinedNodes([title, path, isolated(place.source), link]));
  }));

/** What a passage is of, in words by which two of one title can be told apart. */
const nameOf = (passage) =>
  [passage.title, partOf(passage), passage.path === passage.title ? null : passage.path, dateOf(passage)]
    .filter(Boolean).join(", ");

const dateOf = ({ modified }) => modified?.slice(0, 10);
const dateNode = (record) =>
  record.modified ? element("time", { datetime: record.modified }, dateOf(record)) : null;
