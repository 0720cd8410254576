"use strict";

// The links of a document: to another document if the index has it, else to the web.

const SUFFIX = /\.(?:md|mdx|markdown|html?|xhtml|rst|txt|adoc|asciidoc|ipynb|org|tex)$/i;
const INDEX = /(?:^|\/)(?:index|readme)$/i;
const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:|^\/\//i;

/** A path normalised for comparison: without dot segments, a text format's suffix, or a final `index`. */
function cleanPath(path) {
  const parts = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  }
  return parts.join("/").replace(SUFFIX, "").replace(INDEX, "");
}

/** A web URL normalised for comparison, without its scheme; null for other URLs. */
function cleanAddress(text, base) {
  if (!URL.canParse(text, base)) return null;
  const { protocol, host, pathname } = new URL(text, base);
  if (!/^https?:$/.test(protocol)) return null;
  return `${host}/${cleanPath(decode(pathname))}`;
}

const withoutSpaces = (name) => name.replace(SUFFIX, "").trim().toLowerCase().replace(/\s+/g, " ");

/** The anchor of a heading. */
const anchorOf = (heading) =>
  heading.toLowerCase().replace(/[^\p{L}\p{N}\p{M}_]+/gu, "-").replace(/^-|-$/g, "");

/** A function that returns the URL of a link in a document, given the `places` of link targets that the
 * server knows; null for anything else. Wiki links name a page. */
function makeResolver({ path, source, url }, places) {
  const known = new Map();
  const know = (key, place) => known.has(key) || known.set(key, place.document_id);
  const keyOfAddress = (text) => {
    const address = cleanAddress(text, url ?? undefined);
    return address && `url ${address}`;
  };
  const keyOfPath = (page) => {
    if (HAS_SCHEME.test(page)) return null;
    const folder = page.startsWith("/") ? "" : path.split("/").slice(0, -1).join("/");
    return `path ${source} ${cleanPath(`${folder}/${decode(page.split("?")[0])}`)}`;
  };
  for (const place of places) {
    know(`path ${place.source} ${cleanPath(place.path)}`, place);
    if (place.url) know(keyOfAddress(place.url), place);
    const stem = place.path.replace(SUFFIX, "");
    for (const name of [stem, stem.split("/").at(-1), place.title]) know(`page ${withoutSpaces(name)}`, place);
  }
  return (target, isWiki) => {
    const [, page, fragment] = target.match(/^([^#]*)(?:#(.*))?$/s);
    const anchor = fragment ? `#${encodeURIComponent(decode(fragment))}` : "";
    if (!page) return anchor || null;
    const keys = isWiki ? [`page ${withoutSpaces(page)}`] : [keyOfPath(page), keyOfAddress(page)];
    const id = keys.map((key) => known.get(key)).find(Boolean);
    if (id) return `${ROOT}d/${encodeURIComponent(id)}${anchor}`;
    return isWiki || !URL.canParse(target, url ?? undefined) ? null : webAddress(new URL(target, url ?? undefined));
  };
}

/** A function that creates the links of a document. */
function makeLinker(record, places) {
  const resolve = makeResolver(record, places);
  return (target, nodes, isWiki = false) => {
    const address = resolve(target, isWiki);
    if (!address) return null;
    const isElsewhere = !address.startsWith("#") && !address.startsWith(ROOT);
    const titled = places.find((place) => address.split("#")[0] === `${ROOT}d/${encodeURIComponent(place.document_id)}`);
    const label = nodes.length ? nodes : [titled?.title ?? decode(target.replace(/^#/, ""))];
    return element("a", { href: address, rel: isElsewhere ? "noreferrer nofollow" : null }, ...label);
  };
}
