"use strict";

// A search dialog for pages of other sites, which load it with one <script>. It is in a shadow root with a constructed
// style sheet, so that neither the site's style nor its Content-Security-Policy for styles affects it. Everything that
// the server sends becomes text nodes.

const PAUSE_MS = 140;
const FINISH_MS = 2000;
const COUNT = 10;
const MAX_SUGGESTED = 200;

const own = document.currentScript;
if (!own) throw new Error('search.js is not a module: load it with <script src="…/search.js"></script>');
const ROOT = new URL(".", own.src).href;
const { open: opener, placeholder = "Search", theme, filters = "" } = own.dataset;

const HEDGES = {
  weak: "The documents may not answer this; these passages are the closest.",
  none: "Nothing in the documents matches well; these passages are the closest.",
};

/** Create an element with attributes and children; strings become text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const host = element("search-box");
const input = element("input", {
  type: "search", maxlength: "2000", placeholder, "aria-label": placeholder, autocomplete: "off",
  autocapitalize: "off", spellcheck: "false", enterkeyhint: "search",
});
const closer = element("button", { type: "button" }, "Close");
const form = element("form", {}, input, closer);
const status = element("p", { class: "status", role: "status" });
const suggestions = element("div", { class: "suggestions", role: "group", "aria-label": "Suggestions", hidden: "" });
const results = element("ol", { "aria-label": "Results" });
const keys = element(
  "p", { class: "keys" },
  element("kbd", {}, "↑"), " ", element("kbd", {}, "↓"), " move, ",
  element("kbd", {}, "Enter"), " opens, ", element("kbd", {}, "Esc"), " closes",
);
const dialog = element("dialog", { "aria-label": placeholder }, form, status, suggestions, results, keys);
const launch = element(
  "button", { type: "button", class: "launch", "aria-haspopup": "dialog" },
  "Search ", element("kbd", { "aria-hidden": "true" }, "Ctrl K"),
);
const box = element("div", { class: "box", role: "search", "aria-label": "Site search" }, opener ? null : launch, dialog);

// Requests: only the response to the latest one is shown

let timer = null;
let finishing = null;
let isFinished = true;
let isWhole = true;
let running = null;
let shown = null;

async function ask(path, parameters, signal) {
  let response;
  try {
    response = await fetch(`${ROOT}${path}?${parameters}`, { signal, credentials: "omit", redirect: "error" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The search cannot be reached from this page.");
  }
  if (response.ok) return response.json();
  const problem = await response.json().catch(() => ({}));
  throw new Error(problem.detail ?? `The search answered ${response.status}.`);
}

/** Search while the user types; the last word is complete after a space or a pause. */
function searchSoon() {
  clearTimeout(timer);
  clearTimeout(finishing);
  isFinished = isWhole = /\s$/.test(input.value);
  timer = setTimeout(search, PAUSE_MS);
  if (!isFinished) finishing = setTimeout(finish, FINISH_MS, false);
}

function finish(isSubmitted = true) {
  clearTimeout(finishing);
  isFinished = true;
  isWhole ||= isSubmitted;
  return search();
}

async function search() {
  clearTimeout(timer);
  running?.abort();
  const text = input.value.trim();
  const request = new AbortController();
  running = request;
  if (!text) {
    show("", []);
    suggest([]);
    return;
  }
  results.classList.add("waiting");
  if (SUGGESTS && text.length <= MAX_SUGGESTED) {
    ask("suggest", new URLSearchParams({ q: text }), request.signal)
      .then((answer) => running === request && suggest(answer.suggestions))
      .catch(() => running === request && suggest([]));
  }
  try {
    const parameters = new URLSearchParams(filters);
    parameters.set("q", text);
    parameters.set("top_k", COUNT);
    parameters.set("group", "document");
    if (!isWhole) parameters.set("prefix", "true");
    const answer = await ask("search", parameters, request.signal);
    if (running !== request) return;
    shown = text;
    show(saying(answer), answer.results.map(resultNode));
  } catch (error) {
    if (running === request && error.name !== "AbortError") show(error.message, []);
  }
}

function show(said, nodes) {
  results.classList.remove("waiting");
  if (!nodes.length) shown = null;
  status.textContent = said;
  const place = focused();
  results.replaceChildren(...nodes);
  // Results may arrive again, for the whole word, while one of them has the focus.
  if (place >= 0) focusOn(place);
  else results.scrollTop = 0;
}

function saying({ match, query, results: found, stages }) {
  if (!isFinished) return "";
  if (!found.length) return `Nothing found for “${query}”.`;
  const notices = Object.values(stages).flatMap(({ notice }) => notice ?? []);
  const count = `${found.length} result${found.length === 1 ? "" : "s"}.`;
  return [HEDGES[match] ?? count, ...notices].join(" ");
}

function suggest(found) {
  suggestions.replaceChildren(
    ...found.slice(0, 5).map(({ text }) => {
      const button = element("button", { type: "button" }, text);
      button.addEventListener("click", () => {
        input.value = text;
        input.focus();
        finish();
      });
      return button;
    }),
  );
  suggestions.hidden = !found.length;
}

/** The URL of a result: its own if it is on the web, else its page on this server. */
function addressOf({ url, id, document_id: documentId, section, title, position }) {
  const place = `${ROOT}d/${encodeURIComponent(documentId)}#${encodeURIComponent(id)}`;
  if (!URL.canParse(url)) return place;
  const { protocol, href, hash, pathname } = new URL(url);
  if (!/^https?:$/.test(protocol)) return place;
  if (hash) return href;
  if (/\.pdf$/i.test(pathname)) return position?.page ? `${href}#page=${position.page}` : href;
  const heading = section.at(-1)?.replace(/[`*]/g, "");
  // A text fragment: browsers scroll to these words without knowing the page's anchors.
  return !heading || heading === title
    ? href : `${href}#:~:text=${encodeURIComponent(heading).replaceAll("-", "%2D")}`;
}

function resultNode(hit) {
  const { title, path, highlights, more = [] } = hit;
  const node = element(
    "a", { class: "hit", href: addressOf(hit) },
    element("bdi", { class: "title" }, ...markedNodes(title, highlights.title)),
    element("bdi", { class: "where" }, headingsOf(hit) || path),
    snippetNode(hit),
  );
  return element("li", {}, node, ...more.map(moreNode));
}

/** Another passage of the same document. */
function moreNode(hit) {
  const where = element("bdi", { class: "where" }, headingsOf(hit) || hit.title);
  return element("a", { class: "hit more", href: addressOf(hit), tabindex: "-1" }, where, snippetNode(hit));
}

const headingsOf = ({ title, section }) => (section[0] === title ? section.slice(1) : section).join(" › ");

const snippetNode = ({ snippet, highlights, snippet_code: code }) =>
  element("bdi", { class: "snippet" }, ...markedNodes(snippet, highlights.snippet, code));

// Opening (with the keyboard or the site's own button) and closing

/** Whether the page has a dark theme, judging by its text colour. */
function isDark() {
  if (theme === "light" || theme === "dark") return theme === "dark";
  const painter = element("canvas").getContext("2d", { willReadFrequently: true });
  painter.fillStyle = getComputedStyle(document.body).color;
  painter.fillRect(0, 0, 1, 1);
  const [red, green, blue] = painter.getImageData(0, 0, 1, 1).data;
  return 0.3 * red + 0.59 * green + 0.11 * blue > 128;
}

const paint = () => host.toggleAttribute("data-dark", isDark());

function open() {
  // A single-page application may have removed the search box.
  if (!host.isConnected) document.body.append(host);
  paint();
  dialog.showModal();
  input.focus();
  input.select();
}

function begin() {
  // A site may load this script twice.
  if (document.querySelector("search-box")) return;
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
  root.append(box);
  document.body.append(host);
  paint();
  const watch = new MutationObserver(paint);
  for (const watched of [document.documentElement, document.body]) watch.observe(watched, { attributes: true });
  document.addEventListener("keydown", onSiteKey);
  document.addEventListener("click", (event) => {
    if (!opener || !event.target.closest?.(opener)) return;
    event.preventDefault();
    open();
  });
}

/** Whether a key belongs to an input method; Safari sends the one that ends a composition after it. */
const isComposing = (event) => event.isComposing || event.keyCode === 229;

const isCommandK = (event) =>
  (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k";

function onSiteKey(event) {
  const [target] = event.composedPath();
  const isTyping = target.isContentEditable || target.closest?.("input, textarea, select");
  const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping;
  if (event.defaultPrevented || isComposing(event) || !(isSlash || isCommandK(event))) return;
  event.preventDefault();
  open();
}

const links = () => [...results.querySelectorAll("a")];
const focused = () => links().indexOf(host.shadowRoot.activeElement);
// The search field comes before the first result.
const focusOn = (place) => (links()[Math.min(place, links().length - 1)] ?? input).focus();

/** Keep the focus inside the dialog. */
function goRound(event) {
  const stops = [...dialog.querySelectorAll("input, button, a")].filter((stop) => stop.checkVisibility());
  const [from, to] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
  if (host.shadowRoot.activeElement !== from) return false;
  to.focus();
  return true;
}

function isTaken(event) {
  if (isComposing(event)) return false;
  if (event.key === "Tab") return goRound(event);
  if (event.key === "Escape" || isCommandK(event)) dialog.close();
  else if (event.key === "ArrowDown") focusOn(focused() + 1);
  else if (event.key === "ArrowUp") focusOn(focused() - 1);
  else return false;
  return true;
}

dialog.addEventListener("keydown", (event) => {
  if (isTaken(event)) event.preventDefault();
});
for (const name of ["keydown", "keypress", "keyup"]) {
  // Otherwise the site's own shortcuts would react to typing in this field.
  dialog.addEventListener(name, (event) => event.stopPropagation());
}
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
closer.addEventListener("click", () => dialog.close());
launch.addEventListener("click", open);
input.addEventListener("input", (event) => {
  clearTimeout(finishing);
  if (!event.isComposing) searchSoon();
});
input.addEventListener("compositionend", searchSoon);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (shown === input.value.trim()) results.querySelector("a")?.click();
  else finish();
});

if (document.body) begin();
else addEventListener("DOMContentLoaded", begin);
