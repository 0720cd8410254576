"use strict";

// Shared by all pages. Content from the server, a model or a document becomes text nodes, never markup; the
// Content-Security-Policy makes browsers refuse everything else.

const byId = (id) => document.getElementById(id);

// Behind a proxy, the server may be below a path of its own.
const ROOT = location.pathname.replace(/\/d\/.*$|\/[^/]*$/s, "/");

/** Create an element with attributes and children; strings become text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Text isolated so that it cannot change the direction of the text around it. */
const isolated = (text) => element("bdi", {}, text);

/** The URL if it is a web address, not `javascript:` or similar; else null. It may be relative to `base`. */
function webAddress(text, base) {
  try {
    const address = new URL(text, base);
    return ["http:", "https:"].includes(address.protocol) ? address.href : null;
  } catch {
    return null;
  }
}

/** A decoded part of a URL; unchanged if it cannot be decoded. */
const decode = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** An identifier such as `due_date` as words. */
function readable(name) {
  const words = name.replaceAll(/[_-]+/g, " ").trim() || name;
  return words[0].toUpperCase() + words.slice(1);
}

/** Nodes in one line, separated by dots; nulls are skipped. */
const joinedNodes = (nodes) =>
  nodes.filter(Boolean).flatMap((node, place) => (place ? [" · ", node] : [node]));

/** A disclosure; its content is created when it is first opened. */
function disclosure(summary, makeContent) {
  const node = element("details", {}, element("summary", {}, summary));
  node.addEventListener("toggle", () => node.append(makeContent()), { once: true });
  return node;
}

/** Copy a text to the clipboard; resolves to whether the browser allowed it. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Over plain HTTP, the clipboard API works only on localhost.
    const field = element("textarea", {}, text);
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    return isCopied;
  }
}

/** A button that copies a text to the clipboard. */
function copyButton(label, makeText, attributes = {}) {
  const button = element("button", { type: "button", ...attributes }, ...label);
  button.addEventListener("click", async () => {
    button.textContent = (await copyText(makeText())) ? "Copied" : "Not allowed";
    setTimeout(() => button.replaceChildren(...label), 2000);
  });
  return button;
}

const number = (value) => value.toLocaleString("en");
const plural = (count, one) => `${number(count)} ${one}${count === 1 ? "" : "s"}`;

// Where the reader came from, for the link back: the search, with its URL, or the chat

const CAME_FROM = "came-from";
const FOUND_WORDS = "found-words";

/** Remember what this tab shows, and the highlighted words. */
function comeFrom(place, words = []) {
  sessionStorage.setItem(CAME_FROM, place);
  sessionStorage.setItem(FOUND_WORDS, JSON.stringify([...new Set(words)]));
}

/** A link to the search or conversation that this tab last showed; null if there is none. */
function wayBack() {
  const place = sessionStorage.getItem(CAME_FROM);
  if (!place) return null;
  const query = new URLSearchParams(place.replace(/^[^?]*/, "")).get("q");
  const words = query ? ["the results for “", isolated(query), "”"] : ["the conversation"];
  return element("a", { href: ROOT + place }, "Back to ", ...words);
}

// Requests to the server

const TOKEN = "token";
let tokenDialog = null;

/** An error response; the message is the problem document's detail. */
class Refusal extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** Ask for a token; the promise resolves when one was entered, and rejects if not. */
function askToken(rejected) {
  tokenDialog ??= new Promise((resolve, reject) => {
    const input = element("input", {
      id: "token", type: "password", autocomplete: "off", spellcheck: "false", required: true,
      "aria-describedby": "token-help",
    });
    const form = element(
      "form", {},
      element("h2", { id: "token-title" }, "This server requires a token"),
      element(
        "p", { id: "token-help", class: rejected ? "error" : "muted" },
        rejected
          ? "The server did not accept this token."
          : "Ask the server's owner for a token. This tab keeps it until you close the tab.",
      ),
      element("label", { for: "token" }, "Token"),
      input,
      element(
        "p", { class: "actions" },
        element("button", { class: "main" }, "Continue"),
        element("button", { type: "button", id: "token-cancel" }, "Cancel"),
      ),
    );
    const dialog = element("dialog", { "aria-labelledby": "token-title" }, form);
    const close = () => {
      tokenDialog = null;
      dialog.remove();
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      sessionStorage.setItem(TOKEN, input.value.trim());
      close();
      resolve();
    });
    dialog.addEventListener("cancel", () => {
      close();
      reject(new Refusal(401, "This server requires a token."));
    });
    document.body.append(dialog);
    byId("token-cancel").addEventListener("click", () => {
      dialog.dispatchEvent(new Event("cancel"));
    });
    dialog.showModal();
  });
  return tokenDialog;
}

/** Fetch a path of this server, with the token if there is one. Throws a Refusal. */
async function ask(path, { headers = {}, ...options } = {}) {
  for (;;) {
    const token = sessionStorage.getItem(TOKEN);
    let response;
    try {
      const authorization = token ? { Authorization: `Bearer ${token}` } : {};
      response = await fetch(ROOT + path, {
        ...options,
        headers: new Headers({ ...headers, ...authorization }),
        credentials: "omit",
        redirect: "error",
      });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      if (token && /[^\x21-\x7e]/.test(token)) {
        sessionStorage.removeItem(TOKEN);
        await askToken(true);
        continue;
      }
      throw new Refusal(0, "The server cannot be reached.");
    }
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({}));
    if (response.status === 401) {
      // Another request may have set a new token in the meantime.
      if (token === sessionStorage.getItem(TOKEN)) {
        sessionStorage.removeItem(TOKEN);
        await askToken(token !== null);
      }
      continue;
    }
    throw new Refusal(response.status, problem.detail ?? `The server answered ${response.status}.`);
  }
}

const askJson = async (path, options) => (await ask(path, options)).json();

/** POST a body as JSON. */
const postJson = (path, body, signal) =>
  ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });

/** Show an error in `place`, with a button to try again. */
function showError(place, error, retry) {
  const button = element("button", { type: "button" }, "Try again");
  button.addEventListener("click", retry);
  const notice = element("div", { class: "notice error", role: "alert" }, error.message, button);
  place.replaceChildren(notice);
  place.hidden = false;
}

const PAGE_TITLE = document.title;

/** Fill in what all pages share; returns the server's description. May be called again. */
async function loadAbout() {
  for (const link of document.querySelectorAll("[data-to]")) link.href = ROOT + link.dataset.to;
  const about = await askJson("about");
  byId("title").replaceChildren(isolated(about.title));
  document.title = `${PAGE_TITLE} · ${about.title}`;
  for (const page of ["chat", "browse"]) {
    for (const link of document.querySelectorAll(`[data-to="${page}"]`)) link.closest("li").hidden = !about[page];
  }
  if (sessionStorage.getItem(TOKEN) && !byId("forget")) {
    const forget = element("button", { type: "button", id: "forget", class: "quiet" }, "Forget the token");
    forget.addEventListener("click", () => {
      sessionStorage.clear();
      location.reload();
    });
    document.querySelector("body > footer").append(forget);
  }
  return about;
}

/** The key that was pressed; with Caps Lock, letters arrive as capitals. */
const keyOf = ({ key, shiftKey }) => (key.length === 1 && !shiftKey ? key.toLowerCase() : key);

// Ctrl+K, or Command+K: go to the search from every page.
document.addEventListener("keydown", (event) => {
  const isSearch = keyOf(event) === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  if (!isSearch || event.target.closest("dialog")) return;
  event.preventDefault();
  const field = byId("query");
  if (!field) location.assign(ROOT);
  field?.focus();
  field?.select();
});

/** Whether a key belongs to an input method; Safari sends the one that ends a composition after it. */
const isComposing = (event) => event.isComposing || event.keyCode === 229;

/** Whether a key is meant for a form field, or for the browser. */
const isTyping = (event) =>
  event.ctrlKey || event.metaKey || event.altKey ||
  event.target.closest("input:not([type=radio], [type=checkbox]), textarea, select, dialog") !== null;
