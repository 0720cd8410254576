"use strict";

// Highlights a query's words in texts; the server sends their spans, in code points.

/** A text as nodes, with `spans` highlighted and the spans in `code` as code. */
function markedNodes(text, spans, code = []) {
  const points = Array.from(text);
  const marks = (start, end) => {
    const nodes = [];
    let position = start;
    for (const [from, to] of spans) {
      if (from < position || to > end) continue;
      nodes.push(points.slice(position, from).join(""), element("mark", {}, points.slice(from, to).join("")));
      position = to;
    }
    return [...nodes, points.slice(position, end).join("")];
  };
  const nodes = [];
  let position = 0;
  for (const [from, to] of code) {
    nodes.push(...marks(position, from), element("code", {}, ...marks(from, to)));
    position = to;
  }
  return [...nodes, ...marks(position, points.length)];
}

/** The highlighted words of a result, in lower case. */
function foundWords({ snippet, highlights, title, section }) {
  const words = (text, spans) => spans.map(([from, to]) => Array.from(text).slice(from, to).join(""));
  const found = [
    ...words(snippet, highlights.snippet),
    ...words(title, highlights.title),
    ...section.flatMap((heading, place) => words(heading, highlights.section[place])),
  ];
  return found.map((word) => word.toLowerCase());
}

/** A pattern that matches whole words and numbers; in scripts without spaces, words match anywhere. */
function patternOf(words) {
  const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const spaceless = ["Han", "Hiragana", "Katakana", "Hangul", "Thai", "Lao", "Khmer", "Myanmar"];
  const isSpaceless = `[${spaceless.map((script) => `\\p{sc=${script}}`).join("")}]`;
  const inWord = `(?!${isSpaceless})[\\p{L}\\p{N}\\p{M}]`;
  const bounded = (word) => {
    if (new RegExp(`^${isSpaceless}`, "u").test(word)) {
      const script = ["Katakana", "Hangul"].find((name) => new RegExp(`^\\p{sc=${name}}`, "u").test(word));
      const inside = `[\\p{sc=${script}}\u30fc]`;
      return script ? `(?<!${inside})${escaped(word)}(?!${inside})` : escaped(word);
    }
    const before = /^[\p{L}\p{N}]/u.test(word) ? `(?<!${inWord})` : "";
    const after = /[\p{L}\p{N}\p{M}]$/u.test(word) ? `(?!${inWord})` : "";
    const [begun, ended] = [/^\d/.test(word) ? "(?<!\\d[.,])" : "", /\d$/.test(word) ? "(?![.,]\\d)" : ""];
    return begun + before + escaped(word) + after + ended;
  };
  const longestFirst = [...new Set(words)].sort((one, other) => other.length - one.length);
  return new RegExp(`(${longestFirst.map(bounded).join("|")})`, "giu");
}

/** Highlight words everywhere in an element. */
function markWithin(node, words) {
  if (words.length === 0) return;
  const pattern = patternOf(words);
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest("button, math")) texts.push(walker.currentNode);
  for (const text of texts) {
    const parts = text.data.split(pattern);
    if (parts.length > 1) text.replaceWith(...parts.map((part, place) => (place % 2 ? element("mark", {}, part) : part)));
  }
}

/** A passage without leading headings that are already shown above it. */
function withoutHeadings(text, section) {
  const lines = text.split("\n");
  const isSaid = (line) => section.includes(line.match(/^#{1,6}\s+(.*)$/)?.[1].trim());
  const first = lines.findIndex((line) => line.trim() && !isSaid(line));
  return first < 0 ? text : lines.slice(first).join("\n");
}
