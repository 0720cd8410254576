"use strict";

// The words of a query in texts: the server says where they are, in code points.

/** A text as nodes, its `spans` marked and the stretches in `code` in the type of code. */
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

/** The words that are marked in a result, in small letters. */
function foundWords({ snippet, highlights, title, section }) {
  const words = (text, spans) => spans.map(([from, to]) => Array.from(text).slice(from, to).join(""));
  const found = [
    ...words(snippet, highlights.snippet),
    ...words(title, highlights.title),
    ...section.flatMap((heading, place) => words(heading, highlights.section[place])),
  ];
  return found.map((word) => word.toLowerCase());
}

/** Mark some words wherever they are in an element. */
function markWithin(node, words) {
  const isFound = new Set(words);
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest("button")) texts.push(walker.currentNode);
  for (const text of texts) {
    const parts = text.data.split(/([\p{L}\p{N}\p{M}]+)/u);
    if (!parts.some((part) => isFound.has(part.toLowerCase()))) continue;
    text.replaceWith(...parts.map((part) => (isFound.has(part.toLowerCase()) ? element("mark", {}, part) : part)));
  }
}

/** A passage without the headings at its beginning that are said above it already. */
function withoutHeadings(text, section) {
  const lines = text.split("\n");
  const isSaid = (line) => section.includes(line.match(/^#{1,6}\s+(.*)$/)?.[1].trim());
  const first = lines.findIndex((line) => line.trim() && !isSaid(line));
  return first < 0 ? text : lines.slice(first).join("\n");
}
