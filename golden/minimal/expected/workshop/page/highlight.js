"use strict";

// Which words of a passage are those of a query, near enough for the eye: the server compares
// stems, and here two words are the same when they begin alike.

const WORD = /[\p{L}\p{N}\p{M}_]+/gu;
const TOKEN_OF_QUERY = /[\p{L}\p{N}\p{M}_]+(?:(?:::|[-.:/@])[\p{L}\p{N}\p{M}_]+)*/gu;
const SPACELESS =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]/u;

const fold = (text) => text.normalize("NFKC").toLowerCase();

function isSameWord(one, other) {
  if (one === other) return true;
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (short.length < 3 || /\d/.test(long)) return false;
  let common = 0;
  while (common < short.length && short[common] === long[common]) common += 1;
  if (common === short.length && long.length - common <= 2) return true;
  return common >= 5 && long.length - common <= 4;
}

/** A function that gives the spans of a text that a query is about: [start, end, word]. */
function makeMatcher(query, stopWords) {
  const words = new Set();
  const literals = new Set();
  for (const [token] of query.normalize("NFKC").matchAll(TOKEN_OF_QUERY)) {
    if (SPACELESS.test(token)) {
      for (let at = 0; at + 2 <= token.length; at += 1) literals.add(token.slice(at, at + 2));
      if (token.length === 1) literals.add(token);
      continue;
    }
    const parts = token.match(WORD);
    if (parts.length > 1) literals.add(token);
    for (const part of parts.map(fold)) {
      if (!stopWords.has(part) && (parts.length === 1 || !/^\d*$/.test(part))) words.add(part);
    }
  }
  const escape = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  const literal = literals.size
    ? new RegExp([...literals].map(escape).join("|"), "giu")
    : null;
  return (text) => {
    const spans = [];
    for (const match of text.matchAll(WORD)) {
      const found = fold(match[0]);
      for (const word of words) {
        if (isSameWord(word, found)) {
          spans.push([match.index, match.index + match[0].length, word]);
          break;
        }
      }
    }
    if (literal) {
      for (const match of text.matchAll(literal)) {
        spans.push([match.index, match.index + match[0].length, fold(match[0])]);
      }
    }
    return spans.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  };
}

/** A stretch of a text as nodes, its spans marked. */
function markedNodes(text, spans, start = 0, end = text.length) {
  const nodes = [];
  let position = start;
  for (const [from, to] of spans) {
    if (from < position || to > end) continue;
    nodes.push(text.slice(position, from), element("mark", {}, text.slice(from, to)));
    position = to;
  }
  nodes.push(text.slice(position, end));
  return nodes;
}

/** A passage without the headings at its beginning that are said above it already. */
function withoutHeadings(text, section) {
  const lines = text.split("\n");
  const isSaid = (line) => section.includes(line.match(/^#{1,6}\s+(.*)$/)?.[1].trim());
  const first = lines.findIndex((line) => line.trim() && !isSaid(line));
  return first < 0 ? text : lines.slice(first).join("\n");
}

/** A passage without the marks of Markdown, on one line. */
function plainLine(text) {
  const lines = text.split("\n").filter((line) => !/^\s*(```|~~~|\|?[\s:|-]*-[\s:|-]*$)/.test(line));
  return lines
    .map((line) => line.replace(/^\s*(#{1,6}|[-*+>])\s+/, "").replace(/^\s*\||\|\s*$/g, ""))
    .join(" ")
    .replace(/\s\|\s/g, " · ")
    .replace(/\*\*|__|`/g, "")
    .replace(/!?\[([^\]]*)\]\([^()\s]*\)/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
}

const SNIPPET = 330;

/** The stretch of a text in which most of a query's words stand, as nodes. */
function snippetNodes(text, matcher) {
  const spans = matcher(text);
  let start = 0;
  if (text.length > SNIPPET * 1.25) {
    let most = 0;
    for (let first = 0; first < spans.length; first += 1) {
      const within = new Set();
      for (let at = first; at < spans.length && spans[at][1] <= spans[first][0] + SNIPPET * 0.8; at += 1) {
        within.add(spans[at][2]);
      }
      if (within.size > most) {
        most = within.size;
        start = spans[first][0];
      }
    }
    const sentence = Math.max(text.lastIndexOf(". ", start) + 2, text.lastIndexOf(" · ", start) + 3);
    start = start < SNIPPET * 0.5 ? 0 : start - sentence < 120 ? sentence : text.indexOf(" ", start - 40) + 1;
  }
  let end = text.length;
  if (text.length - start > SNIPPET * 1.25) end = text.lastIndexOf(" ", start + SNIPPET);
  if (end <= start) end = Math.min(text.length, start + SNIPPET);
  return [start ? "… " : "", ...markedNodes(text, spans, start, end), end < text.length ? " …" : ""];
}
