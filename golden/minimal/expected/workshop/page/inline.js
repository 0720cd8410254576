"use strict";

// Inline Markdown as nodes; HTML stays text. Callers may pass functions that create nodes: `cite(number)` for
// citations, `link(target, nodes)`, `picture(target, alternative)`, `note(name)` for footnotes, and `embed(target)`.
// Without them, or if they return null, the markup stays text.

// A link's text may span lines, and its target may contain balanced parentheses; `__init__` and `a/_b_/c` are not
// emphasis, and `$5 and $6` is not a formula.
const INLINE = new RegExp(
  [
    /(?<!`)(?<code>`+)(?!`)(?<coded>.+?)(?<!`)\k<code>(?!`)/,
    /!\[\[(?<embedded>[^[\]|\n]+)(?:\\?\|(?<size>[^[\]\n]*))?\]\]/,
    /\[\[(?<wiki>[^[\]|\n]+)(?:\|(?<wikiLabel>[^[\]\n]*))?\]\](?!\()/,
    /\[\^(?<note>[^[\]\s]{1,80})\]/,
    /!\[(?<alternative>[^\]\n]*)\](?:\[[^\]\n]*\])?\((?:<(?<shownSpaced>[^<>\n]*)>|(?<shown>(?:[^()\s]|\([^()\s]*\))*))(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)/,
    /\[(?<label>(?:!\[[^\]\n]*\]\([^()\s]*\)|\[[^[\]\n]{0,200}\]|\\.|[^\]\\]){0,500})\]\((?:<(?<spaced>[^<>\n]*)>|(?<target>(?:[^()\s]|\([^()\s]*\))*))(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\)/,
    /\$\$(?<display>[^$]+)\$\$/,
    /(?<![\p{L}\p{N}$\\])\$(?<formula>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?![\p{L}\p{N}$])/,
    /\\\\?\((?<bracketed>[^\n]*?[\\^_=+<>*/-][^\n]*?|\s?[^\s()]\s?)\\{1,2}\)/,
    /(?<![\p{L}\p{N}_/])__(?<dunder>[^\s_](?:[^\s]*[^\s_])?)__(?![\p{L}\p{N}_/])/,
    /\*\*(?<strong>\S(?:.*?\S)?)\*\*(?!\*)/,
    /(?<![\p{L}\p{N}_/])__(?=\S)(?=[^_]*\s)(?<underscoredStrong>[^_]+)(?<=\S)__(?![\p{L}\p{N}_/])/,
    /(?<![\p{L}\p{N}*])\*(?<em>[^\s*](?:[^*\n]*[^\s*])?)\*(?!\*)/,
    /(?<![\p{L}\p{N}_/])_(?<underscored>[^\s_](?:[^_\n]*[^\s_])?)_(?![\p{L}\p{N}_/])/,
    /(?<!~)~~(?<struck>[^\s~](?:[^\n]*?[^\s~])?)~~(?!~)/,
    /(?<![=\p{L}\p{N}])==(?<highlighted>[^\s=](?:[^=\n]*[^\s=])?)==(?![=\p{L}\p{N}])/,
    /(?<=[\p{L}\p{N})])~(?<lowered>[\p{L}\p{N}+-]{1,12})~(?!~)/,
    /(?<=[\p{L}\p{N})])\^(?<raised>[\p{L}\p{N}+-]{1,12})\^/,
    /(?<=[\p{L}\p{N})])\^(?<power>-?\d{1,3})(?![\p{L}\p{N}.^])/,
    /(?<!\^)\^\^(?<inserted>[^\s^](?:[^^\n]*[^\s^])?)\^\^(?!\^)/,
    /(?<![+\p{L}\p{N}])\+\+(?<keys>[\w-]+(?:\+[\w-]+)*)\+\+(?![+\p{L}\p{N}])/,
    /\[(?<cite>\d{1,3})\]/,
    /<(?<address>[a-z]{2,8}:[^<>\s]+)>/,
    /(?<![\p{L}\p{N}])(?<bare>https?:\/\/[^\s<>"'`[\]{}|\\^*]*[^\s<>"'`[\]{}|\\^*.,;:!?_)])/,
    /(?<broken> {2,}|\\)\n/,
    /\\(?<escaped>[!-/:-@[-`{-~])/,
    /&(?:(?<entity>[a-z]{2,6}\d?|#39);|#(?<decimal>\d{2,6});|#x(?<hex>[\da-f]{2,5});)/,
  ].map((part) => part.source).join("|"),
  "gsu",
);
const ENTITIES = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", "#39": "'", ndash: "–", mdash: "—",
  hellip: "…", laquo: "«", raquo: "»", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", times: "×", middot: "·",
};

// Longer text is not parsed, since parsing time is superlinear.
const MAX_INLINE = 10_000;

// File extensions of pictures; other targets of `![[target]]` are notes.
const PICTURE = /\.(?:avif|bmp|gif|jpe?g|png|svg|webp)(?:#.*)?$/i;
// The width of a picture: `![[plan.png|200]]`, `![Plan|200x100](plan.png)`.
const WIDTH = /(?:^|\|)(\d{1,4})(?:x\d{1,4})?$/;

/** A formula, or its source if it cannot be rendered. */
const formulaNode = (source, isBlock) =>
  window.mathNode?.(source, isBlock) ?? element("code", { class: "formula" }, source);

/** The node of a picture, with its width if one is given. */
const pictureOf = (target, written, made) =>
  made.picture?.(target, written.replace(WIDTH, ""), written.match(WIDTH)?.[1] ?? null);

/** The nodes of a link; links inside it stay text. */
function linkNodes(target, label, made) {
  const { cite, picture } = made;
  const nodes = inlineNodes(label, { cite, picture });
  // In MyST, a link without a label gets the title of its target.
  return made.link?.(target, nodes) ?? (nodes.length ? nodes : [target.replace(/^#/, "")]);
}

/** Keys that are pressed together: `++ctrl+alt+del++`. */
const keyNodes = (written) =>
  written.split("+").flatMap((key, place) => [...(place ? ["+"] : []), element("kbd", {}, readable(key))]);

/** The nodes of one match; null if it stays text. */
function matchedNode(found, made) {
  const within = (text) => inlineNodes(text, made);
  const strong = found.strong ?? found.underscoredStrong;
  const em = found.em ?? found.underscored;
  const raised = found.raised ?? found.power;
  const address = found.address ?? found.bare;
  const formula = found.formula ?? found.bracketed;
  // Python-Markdown writes the language of inline code first.
  if (found.coded !== undefined) return element("code", {}, found.coded.replace(/^ (.*\S.*) $/s, "$1").replace(/^#!\w+ /, ""));
  // Elsewhere, `__init__` is a name.
  if (found.dunder !== undefined) return made.isMarkdown ? element("strong", {}, ...within(found.dunder)) : null;
  if (found.embedded !== undefined) {
    const target = found.embedded.trim();
    return (PICTURE.test(target) ? pictureOf(target, found.size ?? "", made) : made.embed?.(target)) ?? null;
  }
  if (found.wiki !== undefined) {
    const label = found.wikiLabel || null;
    // Obsidian shows the name of a missing page without brackets; `[["key"]]` is code.
    const name = made.isMarkdown && /^[\p{L}\p{N}][^"']*\p{L}/u.test(found.wiki) ? found.wiki : null;
    return made.link?.(found.wiki, [label ?? found.wiki], true) ?? (made.link ? (label ?? name) : null);
  }
  if (found.note !== undefined) return made.note?.(found.note) ?? null;
  if (found.alternative !== undefined) {
    return pictureOf(found.shownSpaced ?? found.shown, found.alternative, made) ?? found.alternative;
  }
  if (found.label !== undefined) return linkNodes(found.spaced ?? found.target, found.label, made);
  if (strong !== undefined) return element("strong", {}, ...within(strong));
  if (em !== undefined) return element("em", {}, ...within(em));
  if (found.struck !== undefined) return element("del", {}, ...within(found.struck));
  if (found.cite !== undefined) return made.cite?.(Number(found.cite)) ?? null;
  if (address !== undefined) return made.link?.(address, [address]) ?? address;
  // In an answer, `\[9\]` would look like a citation.
  if (made.cite) return null;
  if (found.display !== undefined) return formulaNode(found.display, true);
  if (formula !== undefined) return formulaNode(formula, false);
  if (found.highlighted !== undefined) return element("span", { class: "highlighted" }, ...within(found.highlighted));
  if (found.inserted !== undefined) return element("ins", {}, ...within(found.inserted));
  if (found.keys !== undefined) return keyNodes(found.keys);
  if (found.lowered !== undefined) return element("sub", {}, found.lowered);
  if (raised !== undefined) return element("sup", {}, raised);
  if (found.broken !== undefined) return element("br");
  const point = found.decimal ? Number(found.decimal) : parseInt(found.hex, 16);
  if (point) return point <= 0x10ffff ? String.fromCodePoint(point) : null;
  return found.escaped ?? ENTITIES[found.entity] ?? null;
}

/** Inline Markdown as nodes. */
function inlineNodes(text, made = {}) {
  if (text.length > MAX_INLINE) return [text];
  const nodes = [];
  let position = 0;
  for (const match of text.matchAll(INLINE)) {
    const node = matchedNode(match.groups, made);
    if (node === null) continue;
    if (match.index > position) nodes.push(text.slice(position, match.index));
    nodes.push(...[node].flat());
    position = match.index + match[0].length;
  }
  if (position < text.length) nodes.push(text.slice(position));
  return nodes;
}
