"use strict";

// The file that a document was read from, where the server has it.

let hasFile = null;

/** A link to a document's file, at a page if it has pages; it leads nowhere until the server says
    that it has the file. */
function fileLink(record, page) {
  const path = `originals/${encodeURIComponent(record.id)}`;
  const place = page && record.media_type === "application/pdf" ? `#page=${page}` : "";
  const node = element("a");
  node.addEventListener("click", (event) => {
    // A link sends no token, so the file is fetched with it.
    if (!sessionStorage.getItem(TOKEN)) return;
    event.preventDefault();
    fetchFile(record, path, place).catch((error) => showError(byId("notice"), error, () => node.click()));
  });
  hasFile ??= ask(path, { method: "HEAD" }).then(() => true, () => false);
  hasFile.then((has) => {
    if (has) node.href = ROOT + path + place;
  });
  return node;
}

/** Open a file in a tab of its own, or save it, as the server says. */
async function fetchFile(record, path, place) {
  const answer = await ask(path);
  const isShown = answer.headers.get("Content-Disposition")?.startsWith("inline");
  await openContent(answer, isShown ? { target: "_blank" } : { download: record.path.split("/").at(-1) }, place);
}

/** Offer a document's file at its head. */
function showFile(record) {
  const node = fileLink(record);
  node.id = "file";
  hasFile.then((has) => has && node.append("Open the file"));
  byId("original").after(" ", node);
}

/** The name of a part of a document, leading to the file where browsers find the part in it. */
function partLink(record, page, name) {
  if (record.media_type !== "application/pdf") return name;
  const node = fileLink(record, page);
  node.append(name);
  return node;
}
