"use strict";

// Parts of a document other than text: pictures, footnotes and embedded documents.

/** A passage without the overlap with the one before it; offsets count code points. */
function newText(chunk, before) {
  const overlap = before ? before.position.end - chunk.position.start : 0;
  return overlap > 0 ? Array.from(chunk.text).slice(overlap).join("") : chunk.text;
}

/** Whether a node has a heading's words near its beginning. */
function beginsWith(node, heading = "") {
  const words = (text) => text.replace(/\s+/g, " ");
  return words(node.textContent).slice(0, 2 * heading.length + 80).includes(words(heading));
}

/** Join tabs, or a quotation, at the beginning of a passage to the tabs or callout that end the previous passage. */
function goOn(nodes, before) {
  const last = before?.querySelector(".text")?.lastElementChild;
  if (!last || !nodes.length) return;
  if (nodes[0].tagName === "BLOCKQUOTE" && !nodes[0].className) nodes[0] = continuation(nodes[0], last);
  // Further tabs may follow the end of the continued tab.
  const [first, second] = nodes;
  const [tabs, around] = isTabs(first) ? [first, last] : [second, first];
  if (isTabs(tabs) && isOfTabs(around)) joinTabs(around, tabs, true);
}

function continuation(quotation, last) {
  if (isOfTabs(last)) return continueTab(quotation, last);
  if (last.matches(".closed")) return continueClosed(quotation, last);
  if (!last.matches(".callout")) return quotation;
  quotation.className = "callout";
  if (last.dataset.kind) quotation.dataset.kind = last.dataset.kind;
  return quotation;
}

/** A placeholder for a picture, with its alternative text. */
function picturePlaceholder(target, alternative) {
  const name = decode(target.replace(/^attachment:/, "").split(/[?#]/)[0].split("/").at(-1));
  const words = alternative || (target.startsWith("data:") ? "" : name);
  return element("span", { class: "picture" }, element("span", { class: "picture-sign" }, "Picture"), " ", words);
}

const notes = new Map();

/** The number of a footnote, in order of first reference, and its anchors. */
function noteOf(name) {
  if (!notes.has(name)) notes.set(name, { number: notes.size + 1, name: encodeURIComponent(name) });
  return notes.get(name);
}

/** The link from the text to a footnote. */
function noteLink(name) {
  const note = noteOf(name);
  const link = element(
    "a", { href: `#note-${note.name}`, role: "doc-noteref", "aria-label": `Footnote ${note.number}` }, String(note.number),
  );
  if (!note.isMet) link.id = `note-of-${note.name}`;
  note.isMet = true;
  link.addEventListener("click", jump);
  return element("sup", {}, link);
}

/** A footnote with a link back to its reference. */
function noteNode(name, nodes) {
  const note = noteOf(name);
  const back = element("a", { href: `#note-of-${note.name}`, role: "doc-backlink", "aria-label": "Back to the text" }, "↩");
  back.addEventListener("click", jump);
  const last = nodes.at(-1);
  if (last?.tagName === "P") last.append(" ", back);
  else nodes.push(back);
  const number = element("span", { class: "note-number" }, `${note.number}.`);
  return element("div", { class: "note", id: `note-${note.name}`, tabindex: "-1" }, number, element("div", {}, ...nodes));
}

/** Go to an anchor of this page, which may not have been fetched yet. */
async function jump(event) {
  event.preventDefault();
  const id = event.currentTarget.getAttribute("href").slice(1);
  while (!byId(id) && await load(1)) continue;
  const target = byId(id);
  reveal(target);
  target?.scrollIntoView({ block: "center" });
  target?.focus({ preventScroll: true });
}

/** An embedded document, or a section of one. */
function embedNode(target, link) {
  const lead = link(target, [target.replace(/#\^?/, " › ")], true);
  const found = lead?.getAttribute("href").match(/\/d\/([^#]*)/);
  if (!found) return null;
  const node = element("span", { class: "embed" }, lead);
  showEmbedded(node, decode(found[1]), target.split("#")[1]).catch(() => {
    // If it cannot be loaded, users can still follow the link.
  });
  return node;
}

async function showEmbedded(node, id, part) {
  const wanted = new URLSearchParams({ document: id, limit: PIECE });
  const found = await askJson(`chunks?${wanted}`);
  const chunks = found.chunks.filter((chunk) => isPartOf(chunk, part));
  const linkThere = makeLinker(found.document, found.links);
  const shown = chunks.flatMap((chunk, place) => {
    const text = withoutHeadings(newText(chunk, chunks[place - 1]), [found.document.title]);
    return markdownNodes(partOfText(text, part), { ...madeOf(chunk, linkThere, found.document), embed: undefined }, 0);
  });
  node.append(element("span", { class: "embedded" }, ...shown));
}

const isBlockName = (part) => part?.startsWith("^");

/** Whether a passage belongs to a heading, or contains a named block. */
function isPartOf(chunk, part) {
  if (!part) return true;
  if (isBlockName(part)) return chunk.text.includes(part);
  return chunk.section.some((heading) => anchorOf(heading) === anchorOf(part));
}

/** The named block alone, without its name. */
function partOfText(text, part) {
  const blocks = text.split(/\n{2,}/);
  const wanted = isBlockName(part) ? blocks.filter((block) => block.trimEnd().endsWith(part)) : blocks;
  return wanted.join("\n\n").replace(/[ \n]\^[\w-]+$/gm, "");
}

const MARKDOWN_READERS = /^(?:markdown|mdx|notebook)\b/;

/** The functions that create nodes from a passage's inline Markdown. */
const madeOf = (chunk, linker, { reader }) => ({
  link: linker,
  picture: (target, alternative, width) =>
    window.pictureNode?.(chunk.id, target, alternative, width) ?? picturePlaceholder(target, alternative),
  isMarkdown: MARKDOWN_READERS.test(reader),
  note: noteLink,
  noteText: noteNode,
  embed: (target) => embedNode(target, linker),
});
