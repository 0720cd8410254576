"use strict";

// Highlights the words of the last search in a document, and steps through them.

const wordsToMark = JSON.parse(sessionStorage.getItem(FOUND_WORDS) ?? "[]");
let marked = null;

const allMarks = () => [...passages.querySelectorAll("mark")];

function showMarks() {
  const marks = allMarks();
  const place = marks.indexOf(marked);
  byId("marks").hidden = marks.length === 0;
  byId("marked").textContent =
    place < 0 ? `${plural(marks.length, "word")} found` : `${number(place + 1)} of ${plural(marks.length, "word")}`;
}

function forgetMark() {
  marked?.removeAttribute("aria-current");
  marked = null;
  showMarks();
}

/** The index of the highlighted word to go to, starting from the cited passage. */
function placeOfMark(marks, direction) {
  const cited = passages.querySelector("[aria-current]");
  const [BEFORE, AFTER] = [Node.DOCUMENT_POSITION_PRECEDING, Node.DOCUMENT_POSITION_FOLLOWING];
  const isAhead = (mark) => !cited || cited.compareDocumentPosition(mark) & (direction > 0 ? AFTER : BEFORE);
  if (marked) return marks.indexOf(marked) + direction;
  return direction > 0 ? marks.findIndex(isAhead) : marks.findLastIndex(isAhead);
}

/** Go to the next or previous highlighted word, fetching more of the document if needed. */
async function stepMark(direction) {
  let mark = allMarks()[placeOfMark(allMarks(), direction)];
  while (!mark && await load(direction)) mark = allMarks()[placeOfMark(allMarks(), direction)];
  if (!mark) return;
  forgetMark();
  marked = mark;
  marked.setAttribute("aria-current", "true");
  reveal(marked);
  marked.scrollIntoView({ block: "center" });
  showMarks();
  byId("status").textContent = byId("marked").textContent;
}
