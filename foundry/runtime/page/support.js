"use strict";

// Marks the sentences of an answer that no passage supports, and explains why.

const DOUBT_START = "\uE000";
const DOUBT_END = "\uE001";

/** Why a sentence counts as unsupported. */
function doubtOf({ lacks, missing }) {
  if (lacks === "negation") return "the sources may say the opposite";
  return ["not found in the sources", ...missing].join(": ");
}

/** An answer with markers around each unsupported sentence. */
function aroundDoubts(answer, doubts, before, after) {
  let text = "";
  let rest = answer;
  for (const doubt of doubts) {
    const [said, ...others] = rest.split(doubt.sentence);
    text += said + before + doubt.sentence + after(doubt);
    rest = others.join(doubt.sentence);
  }
  return text + rest;
}

/** An answer as Markdown, with explanations at unsupported sentences. */
function doubtedText(answer, done) {
  return aroundDoubts(answer, done?.unsupported ?? [], "", (doubt) => ` (${doubtOf(doubt)})`);
}

/** An answer as nodes, created from Markdown by `nodesOf`, with unsupported sentences marked. */
function doubtedNodes(answer, done, nodesOf) {
  const plain = (text) => text.replace(/[\uE000\uE001]/g, "\uFFFD");
  const doubts = (done?.unsupported ?? []).map((doubt) => ({ ...doubt, sentence: plain(doubt.sentence) }));
  const marked = aroundDoubts(plain(answer), doubts, DOUBT_START, () => DOUBT_END);
  const shown = element("div", {}, ...nodesOf(marked));
  const walker = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  let isInside = false;
  const nodeOf = (piece) => {
    if (piece === DOUBT_START || piece === DOUBT_END) isInside = piece === DOUBT_START;
    if (piece === DOUBT_END) return element("span", { class: "doubt" }, ` (${doubtOf(doubts.shift())})`);
    if (piece === DOUBT_START) return "";
    return isInside && piece.trim() ? element("mark", { class: "unsupported" }, piece) : piece;
  };
  for (const text of texts) {
    const isCitation = text.parentNode.closest(".cite");
    if (!isCitation) text.replaceWith(...text.data.split(/([\uE000\uE001])/).map(nodeOf));
  }
  return [...shown.childNodes];
}
