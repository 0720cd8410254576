"use strict";

const PIECE = 40;

// Text from these readers is shown verbatim; the others produce Markdown.
const CODE_READERS = new Set(["code", "json", "yaml", "toml"]);
const TEXT_READERS = new Set(["text", "subtitles"]);

const passages = byId("passages");

let record = null;
let last = null;
const nodes = new Map();
const positions = new Map();
// Code fences that continue in the next passage.
const openFences = new Map();
let first = 0;
let end = 0;
let cited = null;
let loading = Promise.resolve();
let link = null;

const documentId = decode(location.pathname.slice(ROOT.length + "d/".length));
const chunkInAddress = () => decode(location.hash.slice(1));

// Reading

async function fetchPassages(parameters) {
  const wanted = new URLSearchParams({ document: record?.id ?? documentId, limit: PIECE, ...parameters });
  return askJson(`chunks?${wanted}`);
}

/** Fetch the passages around the one in the URL, or else from the beginning. */
async function fetchFirst() {
  const around = chunkInAddress();
  try {
    return await fetchPassages(around ? { around } : {});
  } catch (error) {
    if (error.status !== 404 || !around) throw error;
    const found = await fetchPassages({});
    const under = await chunkUnder(found.document, around);
    if (under) {
      history.replaceState(null, "", `#${encodeURIComponent(under)}`);
      return fetchPassages({ around: under });
    }
    showNotice("The passage that this address names is not in the document any more.");
    return found;
  }
}

/** The first passage under the heading with this anchor; null if there is none. */
async function chunkUnder(found, anchor) {
  const places = await fetchContents(found);
  const isMeant = ({ section }) => section.some((heading) => anchorOf(heading) === anchorOf(anchor));
  return places.find(isMeant)?.id ?? null;
}

/** Fetch the document by its id; the URL may end with `.md`. */
async function fetchDocument() {
  try {
    return await fetchFirst();
  } catch (error) {
    if (error.status !== 404 || !documentId.endsWith(".md")) throw error;
    record = { id: documentId.slice(0, -".md".length) };
    return fetchFirst();
  }
}

async function begin() {
  byId("notice").hidden = true;
  try {
    const [found, about] = await Promise.all([fetchDocument(), loadAbout()]);
    record = found.document;
    link = makeLinker(record, found.links);
    showHead(record, about);
    showContents(record).catch(() => {
      // The document is readable without its contents, so errors are ignored.
    });
    first = end = found.offset;
    append(found.chunks);
    byId("document").hidden = false;
    showEnds();
    cite(chunkInAddress(), "instant");
    watchEnd();
  } catch (error) {
    record = null;
    if (error.status === 404) showMissing(error);
    else showError(byId("notice"), error, begin);
  }
  byId("loading").hidden = true;
}

/** Fetch the next part of the document, one at a time; resolves to whether there was one. */
function load(direction) {
  const before = passages.children.length;
  loading = loading.then(() => loadPiece(direction));
  return loading.then(() => passages.children.length > before);
}

async function loadPiece(direction) {
  try {
    if (direction > 0 && end < record.chunks) {
      append((await fetchPassages({ offset: end })).chunks);
    } else if (direction < 0 && first > 0) {
      const offset = Math.max(0, first - PIECE);
      const found = await fetchPassages({ offset, limit: first - offset });
      const top = passages.firstElementChild;
      const read = top?.querySelector(".text");
      const before = read?.getBoundingClientRect().top;
      first = offset;
      passages.prepend(...makeNodes(found.chunks, null));
      const label = top?.querySelector(".part");
      if (label && label.textContent === partOf(inRecord(found.chunks.at(-1)))) label.remove();
      // Keep the scroll position.
      if (read) scrollBy({ top: read.getBoundingClientRect().top - before, behavior: "instant" });
    }
    showEnds();
    watchEnd();
  } catch (error) {
    showError(byId("notice"), error, () => {
      byId("notice").hidden = true;
      load(direction);
    });
  }
}

function append(found) {
  passages.append(...makeNodes(found, last));
  last = found.at(-1) ?? last;
  end += found.length;
}

// Showing

function showNotice(text) {
  byId("notice").replaceChildren(element("div", { class: "notice" }, text));
  byId("notice").hidden = false;
}

/** Report that the document does not exist, and offer a search. */
function showMissing(error) {
  const input = element("input", { id: "wanted", type: "search", maxlength: "2000", required: true });
  const form = element(
    "form", { class: "actions", role: "search" },
    element("label", { class: "unseen", for: "wanted" }, "Search the documents"),
    input,
    element("button", { class: "main" }, "Search"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    location.assign(`${ROOT}?${new URLSearchParams({ q: input.value.trim() })}`);
  });
  byId("notice").replaceChildren(element("h1", {}, "Not found"), element("p", { role: "alert" }, error.message), form);
  byId("notice").hidden = false;
}

const inRecord = (chunk) => ({ path: record.path, position: chunk.position });

function makeNodes(found, before) {
  return found.map((chunk) => {
    const node = passageNode(chunk, before);
    markWithin(node, wordsToMark);
    nodes.set(chunk.id, node);
    positions.set(chunk.id, chunk.position);
    before = chunk;
    return node;
  });
}

function passageNode(chunk, before) {
  const reader = record.reader.split("/")[0];
  const isCode = CODE_READERS.has(reader);
  const isMarkdown = !isCode && !TEXT_READERS.has(reader);
  const text = newText(chunk, before);
  const heading = chunk.section.at(-1);
  const isUnder = heading && chunk.section.join("\0") !== before?.section.join("\0");
  const here = element("a", {
    class: "here", href: `#${encodeURIComponent(chunk.id)}`, "aria-label": "Address of this passage",
  }, "#");
  const isOpen = isMarkdown ? openFences.get(before?.id) ?? "" : "";
  openFences.set(chunk.id, isMarkdown ? openFence(text, isOpen) : "");
  const isInList = nodes.get(before?.id)?.querySelector(".text").lastElementChild?.matches("ul, ol") ?? false;
  const made = { ...madeOf(chunk, link, record), isInList: isInList && !isOpen };
  const body = isMarkdown ? markdownNodes(isOpen ? `${isOpen}\n${text}` : text, made, 0) : [wholeNode(text, isCode ? record.path.split(".").at(-1) : "")];
  const says = body.slice(0, 3).some((node) => beginsWith(node, heading));
  if (!before && body.length > 1 && /^H\d$/.test(body[0].tagName) && body[0].textContent === record.title) {
    body.shift();
  }
  goOn(body, nodes.get(before?.id));
  const part = partOf(inRecord(chunk));
  const isNewPart = part && (!before || part !== partOf(inRecord(before)));
  return element(
    "section",
    { class: "passage", tabindex: "-1", dir: isCode ? "ltr" : "auto", "data-parent": chunk.position.parent_start },
    here,
    isNewPart ? element("p", { class: "part" }, window.partLink?.(record, chunk.position.page, part) ?? part) : null,
    isUnder && !says ? element("h2", { class: "under" }, isolated(chunk.section.join(" › "))) : null,
    element("div", { class: isCode ? "text code" : "text" }, ...body),
  );
}

function showEnds() {
  showMarks();
  byId("earlier").hidden = first === 0;
  byId("later").hidden = end >= record.chunks;
}

// The cited passage

/** Highlight a passage and scroll to it. */
function cite(chunkId, behavior = "auto") {
  nodes.get(cited)?.removeAttribute("aria-current");
  cited = nodes.has(chunkId) ? chunkId : null;
  forgetMark();
  byId("steps").hidden = record.chunks < 2;
  showOriginal(record, inRecord({ position: positions.get(cited) }));
  const place = shownPlace();
  byId("place").textContent =
    place < 0 ? plural(record.chunks, "passage") : `${number(first + place + 1)} of ${number(record.chunks)}`;
  byId("previous").disabled = place < 0 || first + place === 0;
  byId("next").disabled = place >= 0 && first + place + 1 >= record.chunks;
  if (place < 0) return;
  const node = nodes.get(cited);
  node.setAttribute("aria-current", "true");
  openFound(node);
  // Mark passages with the same parent as belonging together.
  for (const other of passages.children) {
    const isAround = other !== node && other.dataset.parent && other.dataset.parent === node.dataset.parent;
    other.classList.toggle("around", Boolean(isAround));
  }
  node.focus({ preventScroll: true });
  const { top, bottom } = node.getBoundingClientRect();
  if (top < 0 || bottom > byId("stepper").getBoundingClientRect().top) {
    node.scrollIntoView({ behavior, block: bottom - top < innerHeight * 0.7 ? "center" : "start" });
  }
  byId("status").textContent = `Passage ${byId("place").textContent}`;
}

/** The index of the cited passage among those shown; -1 if none is cited. */
const shownPlace = () => [...passages.children].indexOf(nodes.get(cited));

async function step(direction) {
  const wanted = shownPlace() + direction;
  if (wanted < 0 || wanted >= passages.children.length) await load(direction);
  const node = passages.children[shownPlace() + direction];
  const id = [...nodes].find(([, other]) => other === node)?.[0];
  if (!id) return;
  history.replaceState(null, "", `#${encodeURIComponent(id)}`);
  cite(id);
}

const watcher = new IntersectionObserver((entries) => {
  if (entries.some((entry) => entry.isIntersecting)) load(1);
}, { rootMargin: "400px" });

/** Fetch the next part when its button is near; it may still be near after a part has arrived. */
function watchEnd() {
  watcher.unobserve(byId("later"));
  watcher.observe(byId("later"));
}

addEventListener("hashchange", async () => {
  const wanted = chunkInAddress();
  if (wanted && !nodes.has(wanted)) location.reload();
  else cite(wanted);
});
byId("earlier").addEventListener("click", () => load(-1));
byId("later").addEventListener("click", () => load(1));
byId("previous").addEventListener("click", () => step(-1));
byId("next").addEventListener("click", () => step(1));
byId("mark-before").addEventListener("click", () => stepMark(-1));
byId("mark-next").addEventListener("click", () => stepMark(1));
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  (nodes.get(cited) ?? passages.firstElementChild)?.focus();
});
byId("save").addEventListener("click", async () => {
  try {
    const answer = await ask(`d/${encodeURIComponent(record.id)}.md`, { headers: { Accept: "text/markdown" } });
    const name = record.path.split("/").at(-1).replace(/\.\w+$/, "") || "document";
    await openContent(answer, { download: `${name}.md` });
  } catch (error) {
    showError(byId("notice"), error, () => byId("save").click());
  }
});
document.addEventListener("keydown", (event) => {
  const key = isTyping(event) ? "" : keyOf(event);
  if (key === "j" && !byId("next").disabled) step(1);
  else if (key === "k" && !byId("previous").disabled) step(-1);
  else if (key === "n") stepMark(1);
  else if (key === "p") stepMark(-1);
  else if (key === "/") location.assign(ROOT);
  else return;
  event.preventDefault();
});

const back = wayBack();
byId("back").hidden = back === null;
byId("back").replaceChildren(back ?? "");
begin();
