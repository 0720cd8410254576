"use strict";

// The original file of a document, if the server has it.

let hasFile = null;
let sourcesWithFiles = null;

// Opened from a blob URL, files of these types would run scripts in this server's origin.
const MARKUP = /html|svg/;

const pathOfFile = (documentId) => `originals/${encodeURIComponent(documentId)}`;

/** A link to a document's file, at a page of a PDF; it has no target until the promise `has` resolves to true. */
function fileLink(record, page, has) {
  const path = pathOfFile(record.id);
  const place = page && record.path.toLowerCase().endsWith(".pdf") ? `#page=${page}` : "";
  const node = element("a");
  node.addEventListener("click", (event) => {
    // Links send no token, so the file is fetched with one.
    if (!sessionStorage.getItem(TOKEN)) return;
    event.preventDefault();
    fetchFile(record, path, place).catch((error) => showError(byId("notice"), error, () => node.click()));
  });
  has.then((known) => {
    if (known) node.href = ROOT + path + place;
  });
  return node;
}

/** Open a file in a new tab, or save it, as the server decides. */
async function fetchFile(record, path, place) {
  const answer = await ask(path);
  const isInline = answer.headers.get("Content-Disposition")?.startsWith("inline");
  const isShown = isInline && !MARKUP.test(answer.headers.get("Content-Type"));
  await openContent(answer, isShown ? { target: "_blank" } : { download: record.path.split("/").at(-1) }, place);
}

const askForFile = (record) =>
  (hasFile ??= ask(pathOfFile(record.id), { method: "HEAD" }).then(() => true, () => false));

/** Link to a document's file in its header. */
function showFile(record) {
  const node = fileLink(record, null, askForFile(record));
  node.id = "file";
  hasFile.then((has) => has && node.append("Open the file"));
  byId("original").after(" ", node);
}

/** The name of a part of a document, linked to the file if browsers can open it at that part. */
function partLink(record, page, name) {
  if (record.media_type !== "application/pdf") return name;
  const node = fileLink(record, page, askForFile(record));
  node.append(name);
  return node;
}

/** The link from a result to its document's file; empty unless the server has the source's files. */
function fileOfResult(hit) {
  sourcesWithFiles ??= askJson("originals").then(({ sources }) => new Set(sources), () => new Set());
  const has = sourcesWithFiles.then((sources) => sources.has(hit.source));
  const node = fileLink({ id: hit.document_id, path: hit.path }, hit.position.page, has);
  node.append("Open the file", element("span", { class: "unseen" }, ": ", isolated(hit.title)));
  node.tabIndex = -1; // It is added late, and a result is a single tab stop.
  const place = element("span");
  has.then((known) => known && place.append(" · ", node));
  return place;
}

// Pictures for one colour scheme, in Material for MkDocs and on GitHub.
const ONLY_IN = /#(?:only|gh)-(light|dark)(?:-mode-only)?$/;
const waiting = new Map();
const pictureWatcher = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    pictureWatcher.unobserve(target);
    waiting.get(target)();
    waiting.delete(target);
  }
}, { rootMargin: "600px" });

/** A picture in a passage, fetched when it is near the viewport; until then, its alternative text. */
function pictureNode(chunkId, target, alternative, width) {
  if (!target || HAS_SCHEME.test(target)) return null;
  const node = picturePlaceholder(target, alternative);
  waiting.set(node, async () => {
    const answer = await ask(`pictures?${new URLSearchParams({ chunk: chunkId, target })}`).catch(() => null);
    if (!answer) return;
    const image = element("img", { src: URL.createObjectURL(await answer.blob()), alt: alternative, width });
    const [, scheme] = target.match(ONLY_IN) ?? [];
    if (scheme) image.classList.add(`only-${scheme}`);
    image.addEventListener("load", () => node.replaceWith(image));
    for (const end of ["load", "error"]) image.addEventListener(end, () => URL.revokeObjectURL(image.src));
  });
  pictureWatcher.observe(node);
  return node;
}
