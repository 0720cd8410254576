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

/** A function that creates the links of a document, given the `places` of link targets that the server knows; null
 * for a target that is no URL. Wiki links name a page. */
function makeLinker({ path, source, url }, places) {
  const known = new Map();
  const know = (key, place) => key && !known.has(key) && known.set(key, place);
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
    know(place.url && keyOfAddress(place.url), place);
    const stem = place.path.replace(SUFFIX, "");
    for (const name of [stem, stem.split("/").at(-1), place.title]) know(`page ${withoutSpaces(name)}`, place);
  }
  return (target, nodes, isWiki = false) => {
    const [, page, fragment] = target.match(/^([^#]*)(?:#(.*))?$/s);
    const anchor = fragment ? `#${encodeURIComponent(decode(fragment))}` : "";
    const keys = isWiki ? [`page ${withoutSpaces(page)}`] : [keyOfPath(page), keyOfAddress(page)];
    const place = page ? keys.map((key) => known.get(key)).find(Boolean) : null;
    const inside = place ? `${ROOT}d/${encodeURIComponent(place.document_id)}${anchor}` : page ? null : anchor;
    const address = inside ?? (isWiki ? null : webAddress(target, url ?? undefined));
    if (!address) return null;
    const label = nodes.length ? nodes : [place?.title ?? decode(target.replace(/^#/, ""))];
    return element("a", { href: address, rel: inside ? null : "noreferrer nofollow" }, ...label);
  };
}
