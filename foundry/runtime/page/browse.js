"use strict";

// Lists documents by folder: the contents of the folder in the URL.

const folder = new URLSearchParams(location.search).get("path") ?? "";
let about = {};
let after = null;

const placeOfFolder = (path) => `${ROOT}browse${path ? `?${new URLSearchParams({ path })}` : ""}`;

/** Show links to the parent folders, and to a search in this one. */
function showPlace() {
  const names = folder.split("/").filter(Boolean);
  const steps = names.map((name, depth) => {
    const path = `${names.slice(0, depth + 1).join("/")}/`;
    const isHere = depth === names.length - 1;
    return element("li", {}, element("a", { href: placeOfFolder(path), "aria-current": isHere ? "page" : null }, isolated(name)));
  });
  const top = element("a", { href: placeOfFolder(""), "aria-current": names.length ? null : "page" }, "All documents");
  const within = new URLSearchParams(folder ? { filter: `path=${folder}` } : {});
  byId("place").replaceChildren(
    element("ol", {}, element("li", {}, top), ...steps),
    element("a", { href: `${ROOT}?${within}` }, folder ? "Search this folder" : "Search"),
  );
}

function folderNode({ path, documents }) {
  const link = element("a", { href: placeOfFolder(path) }, isolated(path.slice(folder.length)));
  return element("li", { class: "folder" }, link, element("span", { class: "muted" }, plural(documents, "document")));
}

function documentNode(record) {
  const facts = [
    record.title === record.path ? null : isolated(record.path.slice(folder.length)),
    dateNode(record),
    about.sources.length > 1 ? isolated(record.source) : null,
  ];
  const link = element("a", { href: `${ROOT}d/${encodeURIComponent(record.document_id)}` }, isolated(record.title));
  return element("li", {}, link, element("span", { class: "muted" }, ...joinedNodes(facts)));
}

async function showMore() {
  byId("notice").hidden = true;
  try {
    const asked = new URLSearchParams({ path: folder, ...(after === null ? {} : { after }) });
    const found = await askJson(`folders?${asked}`);
    const nodes = [...found.folders.map(folderNode), ...found.documents.map(documentNode)];
    const before = byId("contents").children.length;
    byId("contents").append(...nodes);
    if (before) nodes[0]?.querySelector("a").focus();
    after = found.next ?? null;
    byId("more").hidden = after === null;
    byId("status").textContent = byId("contents").children.length ? "" : "There are no documents here.";
  } catch (error) {
    showError(byId("notice"), error, showMore);
  }
}

async function begin() {
  byId("notice").hidden = true;
  try {
    about = await loadAbout();
  } catch (error) {
    showError(byId("notice"), error, begin);
    return;
  }
  showPlace();
  showMore();
}

byId("more").addEventListener("click", showMore);
begin();
