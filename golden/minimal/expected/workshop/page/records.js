"use strict";

// Names and places of the documents and passages in a response.

/** The URL of a passage in its document. */
const placeOf = (documentId, chunkId) =>
  `${ROOT}d/${encodeURIComponent(documentId)}#${encodeURIComponent(chunkId)}`;

const PARTS = { pptx: "slide", ppt: "slide", odp: "slide", xlsx: "sheet", xls: "sheet", ods: "sheet" };

/** The part that a passage is on, in words: a page, slide or sheet; null if its document has none. */
function partOf({ path, position }) {
  const page = position?.page;
  if (page === undefined) return null;
  const ending = path.toLowerCase().split(".").at(-1);
  const printed = position.page_label === undefined ? "" : ` (printed ${position.page_label})`;
  return `${PARTS[ending] ?? "page"} ${number(page)}${printed}`;
}

/** The URL of a document at a passage's page, if browsers support that. */
function addressOfPart(address, { position }) {
  const page = position?.page;
  const isPdf = new URL(address).pathname.toLowerCase().endsWith(".pdf");
  return page && isPdf && !address.includes("#") ? `${address}#page=${page}` : address;
}

/** Other places of a text: copies of its document, and other documents that contain it. */
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

/** A name for a passage that distinguishes documents with the same title. */
const nameOf = (passage) =>
  [passage.title, partOf(passage), passage.path === passage.title ? null : passage.path, dateOf(passage)]
    .filter(Boolean).join(", ");

const dateOf = ({ modified }) => modified?.slice(0, 10);
const dateNode = (record) =>
  record.modified ? element("time", { datetime: record.modified }, dateOf(record)) : null;
