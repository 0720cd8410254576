"use strict";

// Content behind a click: tabs, and blocks that are closed at first. In print, all of it is shown.

const tabSets = new WeakMap();
// The labels of tabs that the user has chosen, the latest first.
const chosenLabels = [];
let panels = 0;

const isTabs = (node) => node?.classList?.contains("tabs") ?? false;
/** Whether a node is a row of tabs, or the rest of one in a later passage. */
const isOfTabs = (node) => tabSets.has(node);

/** A tab, with its label above its content; `joinTabs` makes a row of several. */
function tabNode(label, nodes, made) {
  const title = element("p", { class: "tab-title" }, ...inlineNodes(label, { ...made, link: undefined }));
  const panel = element("div", { class: "tab-panel", id: `panel-${(panels += 1)}` }, title, ...nodes);
  const node = element("div", { class: "tabs" }, panel);
  tabSets.set(node, { node, row: null, tabs: [{ label, panels: [panel] }] });
  return node;
}

/** Append the tabs of `after` to those of `before`, without moving their content if they are `apart`. Returns whether they
 * belong together: a label that occurs again begins a new set. */
function joinTabs(before, after, apart = false) {
  const [set, other] = [tabSets.get(before), tabSets.get(after)];
  if (set.tabs.some(({ label }) => other.tabs.some((tab) => tab.label === label))) return false;
  if (!apart) before.append(...other.tabs.flatMap((tab) => tab.panels));
  other.row?.remove();
  set.tabs.push(...other.tabs);
  tabSets.set(after, set);
  showRow(set);
  return true;
}

/** The content of a quotation that continues the last tab of the previous passage. */
function continueTab(quotation, before) {
  const set = tabSets.get(before);
  const rest = element("div", { class: "tab-panel", id: `panel-${(panels += 1)}` }, ...quotation.childNodes);
  set.tabs.at(-1).panels.push(rest);
  tabSets.set(rest, set);
  if (set.row) showRow(set);
  return rest;
}

function showRow(set) {
  const chosen = chosenTab(set) ?? chosenLabels.map((label) => labelledTab(set, label)).find(Boolean) ?? set.tabs[0];
  set.row?.remove();
  set.row = element("div", { class: "tab-row", role: "tablist" });
  set.node.prepend(set.row);
  for (const tab of set.tabs) {
    tab.button = element("button", { type: "button", role: "tab", "aria-controls": tab.panels.map(({ id }) => id).join(" ") });
    const title = tab.panels[0].firstElementChild.cloneNode(true);
    tab.button.append(...title.childNodes);
    tab.button.id = `${tab.panels[0].id}-tab`;
    tab.button.addEventListener("click", () => chooseEverywhere(set, tab));
    tab.button.addEventListener("keydown", (event) => stepTab(set, tab, event));
    set.row.append(tab.button);
  }
  chooseTab(set, chosen);
}

const chosenTab = (set) => set.tabs.find(({ button }) => button?.ariaSelected === "true");
const labelledTab = (set, wanted) => set.tabs.find(({ label }) => label === wanted);

/** Choose a tab in its set and in all others that have its label; it keeps its place in the window. */
function chooseEverywhere(set, chosen) {
  const before = chosen.button.getBoundingClientRect().top;
  chosenLabels.unshift(chosen.label);
  chooseTab(set, chosen);
  for (const other of [...document.querySelectorAll(".tabs")].map((node) => tabSets.get(node))) {
    const same = other?.row && labelledTab(other, chosen.label);
    if (same) chooseTab(other, same);
  }
  scrollBy({ top: chosen.button.getBoundingClientRect().top - before, behavior: "instant" });
}

function chooseTab(set, chosen) {
  for (const tab of set.tabs) {
    const isChosen = tab === chosen;
    tab.button.ariaSelected = String(isChosen);
    tab.button.tabIndex = isChosen ? 0 : -1;
    for (const panel of tab.panels) {
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", tab.button.id);
      // With "until-found", the browser's own search finds text in hidden tabs.
      if (isChosen) panel.removeAttribute("hidden");
      else panel.setAttribute("hidden", "until-found");
      panel.onbeforematch = () => chooseTab(set, tab);
    }
  }
}

function stepTab(set, tab, event) {
  const last = set.tabs.length - 1;
  const place = set.tabs.indexOf(tab);
  const wanted = { ArrowRight: place === last ? 0 : place + 1, ArrowLeft: place === 0 ? last : place - 1, Home: 0, End: last }[event.key];
  if (wanted === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  chooseEverywhere(set, set.tabs[wanted]);
  set.tabs[wanted].button.focus();
}

/** A block that is closed at first; a title such as `Note: Title` has a kind. */
function closedNode(title, nodes, made) {
  const [written, label] = title.match(LABEL) ?? [];
  const kind = KIND_OF.get(label?.toLowerCase()) ?? null;
  const said = (kind && title.slice(written.length).trim()) || title.replace(/:$/, "");
  return detailsNode(inlineNodes(said.replace(BOLD, "$1"), { ...made, link: undefined }), kind, nodes);
}

const detailsNode = (title, kind, nodes) =>
  element("details", { class: "closed", "data-kind": kind }, element("summary", {}, ...title), ...nodes);

/** The content of a quotation that continues the closed block of the previous passage. */
function continueClosed(quotation, before) {
  const title = before.querySelector("summary").cloneNode(true);
  if (!before.isContinued) title.append(", continued");
  const node = detailsNode([...title.childNodes], before.dataset.kind ?? null, [...quotation.childNodes]);
  return Object.assign(node, { isContinued: true });
}

/** Open all closed blocks and tabs that contain a node. */
function reveal(node) {
  for (let around = node?.closest("details, .tab-panel"); around; around = around.parentElement.closest("details, .tab-panel")) {
    if (around.tagName === "DETAILS") around.open = true;
    else around.onbeforematch?.();
  }
}

/** Open the closed blocks of a passage in which words were found, and those that make up a whole passage. */
function openFound(node) {
  const text = node.querySelector(".text");
  let only = text;
  while (only.children.length === 1) [only] = only.children;
  reveal(only);
  // Reversed, so that the first tab with a match is the one that stays open.
  [...text.querySelectorAll("mark")].reverse().forEach(reveal);
}

// Closed blocks are printed open.
let closedInPrint = [];
addEventListener("beforeprint", () => {
  closedInPrint = [...document.querySelectorAll("details.closed:not([open])")];
  for (const node of closedInPrint) node.open = true;
});
addEventListener("afterprint", () => {
  for (const node of closedInPrint) node.open = false;
});
