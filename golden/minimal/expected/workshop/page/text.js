"use strict";

// Documents and answers as elements: the Markdown that matters for reading, without images or HTML,
// which stay text. Who shows a text may give the nodes of its citations, `cite(number)`, or of its
// links, `link(target, nodes)`; without them, and where they give null, both stay text.

// However deep: readers have taken away the steps and tabs that a block of code was in.
const CODE_FENCE = /^(\s*)(`{3,}|~{3,})/;
const CALLOUT = /^(?:Note|Tip|Info|Important|Check|Success|Caution|Warning|Danger|Error):$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*)$/;
const SETEXT_RULE = /^ {0,3}(=+|-+)\s*$/;
const LIST_ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
// A link's words may go on in the next line, and its address may hold pairs of round brackets;
// `__init__` and `a/_b_/c` are no emphasis.
const INLINE = new RegExp(
  [
    /(?<code>`+)(?<coded>.+?)\k<code>(?!`)/,
    /\[\[(?<wiki>[^[\]|\n]+)(?:\|(?<wikiLabel>[^[\]\n]*))?\]\](?!\()/,
    /!\[(?<alternative>[^\]\n]*)\]\((?:<[^<>\n]*>|(?:[^()\s]|\([^()\s]*\))*)(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\)/,
    /\[(?<label>(?:!\[[^\]\n]*\]\([^()\s]*\)|\[[^[\]\n]{0,200}\]|\\.|[^\]\\]){0,500})\]\((?:<(?<spaced>[^<>\n]*)>|(?<target>(?:[^()\s]|\([^()\s]*\))*))(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\)/,
    /\*\*(?<strong>\S(?:.*?\S)?)\*\*(?!\*)/,
    /(?<![\p{L}\p{N}_/])__(?=\S)(?=[^_]*\s)(?<underscoredStrong>[^_]+)(?<=\S)__(?![\p{L}\p{N}_/])/,
    /(?<![\p{L}\p{N}*])\*(?<em>[^\s*](?:[^*\n]*[^\s*])?)\*(?!\*)/,
    /(?<![\p{L}\p{N}_/])_(?<underscored>[^\s_](?:[^_\n]*[^\s_])?)_(?![\p{L}\p{N}_/])/,
    /\[(?<cite>\d{1,3})\]/,
    /<(?<address>[a-z]{2,8}:[^<>\s]+)>/,
    /(?<![\p{L}\p{N}])(?<bare>https?:\/\/[^\s<>"'`[\]{}|\\^*]*[^\s<>"'`[\]{}|\\^*.,;:!?_)])/,
    /\\(?<escaped>[!-/:-@[-`{-~])/,
    /&(?<entity>amp|lt|gt|quot|apos|nbsp|#39);/,
  ].map((part) => part.source).join("|"),
  "gsu",
);
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", "#39": "'" };

// What is longer stays as it is, since time grows faster than length.
const MAX_INLINE = 10_000;
const MAX_TEXT = 100_000;

/** Inline Markdown as nodes. */
function inlineNodes(text, made = {}) {
  if (text.length > MAX_INLINE) return [text];
  const linked = (target, nodes) => made.link?.(target, nodes) ?? nodes;
  const nodes = [];
  let position = 0;
  for (const match of text.matchAll(INLINE)) {
    const { coded, alternative, label, wiki, cite: cited, escaped, entity } = match.groups;
    const address = match.groups.address ?? match.groups.bare;
    const strong = match.groups.strong ?? match.groups.underscoredStrong;
    const em = match.groups.em ?? match.groups.underscored;
    let node = null;
    if (coded !== undefined) node = element("code", {}, coded);
    else if (alternative !== undefined) node = alternative;
    // A link has no link within.
    else if (label !== undefined) {
      node = linked(match.groups.spaced ?? match.groups.target, inlineNodes(label, { cite: made.cite }));
    } else if (wiki !== undefined) {
      node = made.link?.(wiki, [match.groups.wikiLabel ?? wiki], true) ?? null;
    } else if (strong !== undefined) node = element("strong", {}, ...inlineNodes(strong, made));
    else if (em !== undefined) node = element("em", {}, ...inlineNodes(em, made));
    else if (cited !== undefined) node = made.cite?.(Number(cited)) ?? null;
    else if (address !== undefined) node = linked(address, [address]);
    // In an answer, `\[9\]` would become what looks like a citation.
    else if (!made.cite) node = escaped ?? ENTITIES[entity];
    if (node === null) continue;
    if (match.index > position) nodes.push(text.slice(position, match.index));
    nodes.push(...[node].flat());
    position = match.index + match[0].length;
  }
  if (position < text.length) nodes.push(text.slice(position));
  return nodes;
}

const cells = (line) =>
  line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));

function tableNode(lines, made) {
  const row = (line, name) =>
    element("tr", {}, ...cells(line).map((cell) => element(name, {}, ...inlineNodes(cell, made))));
  const body = lines.slice(2).map((line) => row(line, "td"));
  const table = element(
    "table", {}, element("thead", {}, row(lines[0], "th")), element("tbody", {}, ...body),
  );
  return element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" }, table);
}

/** The items of a list and of the lists inside it, which are further to the right. */
function listNode(items, made) {
  const isOrdered = /\d/.test(items[0].sign);
  const start = isOrdered ? parseInt(items[0].sign, 10) : null;
  const list = element(isOrdered ? "ol" : "ul", start > 1 ? { start } : {});
  for (let at = 0; at < items.length; ) {
    const item = element("li", {}, ...inlineNodes(items[at].text, made));
    let end = at + 1;
    while (end < items.length && items[end].indent > items[at].indent) end += 1;
    if (end > at + 1) item.append(listNode(items.slice(at + 1, end), made));
    list.append(item);
    at = end;
  }
  return list;
}

/** Code, with a button that copies it. */
function codeNode(text) {
  const copy = copyButton(["Copy"], () => text, { class: "copy" });
  return element("div", { class: "code-block" }, element("pre", { tabindex: "0" }, element("code", {}, text)), copy);
}

/** What is set off from the text; a label at its beginning, such as `Note:`, is shown as one. */
function quoteNode(nodes) {
  const label = nodes[0]?.firstChild?.data?.match(/^(\p{Lu}[\p{L} ]{1,30}):(?=\n|$)/u)?.[1];
  if (!label) return element("blockquote", {}, ...nodes);
  const [first, ...rest] = nodes;
  first.firstChild.data = first.firstChild.data.slice(label.length + 1).trimStart();
  const below = first.textContent ? nodes : rest;
  return element("blockquote", { class: "callout" }, element("p", {}, element("strong", {}, label)), ...below);
}

/** Text as it is written. */
const wholeNode = (text) => element("pre", { class: "whole" }, text);

/** Markdown as block elements; its headings are `below` levels lower, under one of the page. */
function markdownNodes(text, made = {}, below = 2) {
  if (text.length > MAX_TEXT) return [wholeNode(text)];
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const nodes = [];
  let paragraph = [];
  const flush = () => {
    if (paragraph.length) {
      const node = element("p", {}, ...inlineNodes(paragraph.join("\n"), made));
      nodes.push(paragraph.length > 1 && CALLOUT.test(paragraph[0]) ? quoteNode([node]) : node);
    }
    paragraph = [];
  };
  const take = (from, test) => {
    let end = from;
    while (end < lines.length && test(lines[end])) end += 1;
    return end;
  };
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    const [, depth, fence] = line.match(CODE_FENCE) ?? [];
    const heading = line.match(HEADING);
    let end = at + 1;
    if (fence) {
      const closes = (other) => other.trim().startsWith(fence) && !other.replaceAll(fence[0], "").trim();
      end = take(at + 1, (other) => !closes(other));
      flush();
      const within = new RegExp(`^\\s{0,${depth.length}}`);
      nodes.push(codeNode(lines.slice(at + 1, end).map((other) => other.replace(within, "")).join("\n")));
      end += 1;
    } else if (heading) {
      flush();
      const level = Math.min(6, Math.max(2, heading[1].length + below));
      nodes.push(element(`h${level}`, {}, ...inlineNodes(heading[2].replace(/ #+ *$/, ""), made)));
    } else if (paragraph.length && SETEXT_RULE.test(line)) {
      const level = Math.min(6, Math.max(2, (line.includes("=") ? 1 : 2) + below));
      nodes.push(element(`h${level}`, {}, ...inlineNodes(paragraph.join("\n"), made)));
      paragraph = [];
    } else if (/^ {0,3}([-*_])( *\1){2,}\s*$/.test(line)) {
      flush();
      nodes.push(element("hr"));
    } else if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "") && lines[at + 1].includes("-")) {
      end = take(at, (other) => other.includes("|"));
      flush();
      nodes.push(tableNode(lines.slice(at, Math.max(end, at + 2)), made));
    } else if (LIST_ITEM.test(line)) {
      const items = [];
      end = take(at, (other) => {
        if (CODE_FENCE.test(other)) return false;
        const [, indent, sign, own] = other.match(LIST_ITEM) ?? [];
        if (sign) items.push({ indent: indent.length, sign, text: own });
        else if (/^\s+\S/.test(other)) items.at(-1).text += `\n${other.trim()}`;
        else return false;
        return true;
      });
      flush();
      nodes.push(listNode(items, made));
    } else if (/^ {0,3}>/.test(line)) {
      end = take(at, (other) => /^ {0,3}>/.test(other));
      const quoted = lines.slice(at, end).map((other) => other.replace(/^ {0,3}> ?/, ""));
      flush();
      nodes.push(quoteNode(markdownNodes(quoted.join("\n"), made, below)));
    } else if (line.trim()) {
      paragraph.push(line.trim());
    } else {
      flush();
    }
    at = end;
  }
  flush();
  return nodes;
}
