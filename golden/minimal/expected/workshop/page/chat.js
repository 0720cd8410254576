"use strict";

const CONVERSATION = "conversation";
const MAX_MESSAGES = 63;
const MAX_ANSWER = 16_000;
const MAX_CITED = 20;

const question = byId("question");
let turns = [];
let running = null;

// The session storage of this tab keeps the conversation: [{question, answer, query, sources, done, error}].

function save() {
  try {
    sessionStorage.setItem(CONVERSATION, JSON.stringify(turns));
  } catch {
    // The conversation continues even if it is too long to be stored.
  }
}

function restore() {
  try {
    turns = JSON.parse(sessionStorage.getItem(CONVERSATION)) ?? [];
  } catch {
    turns = [];
  }
  for (const turn of turns) {
    if (!turn.done) turn.error ??= "The answer broke off.";
    showTurn(turn);
  }
  showState();
}

/** The conversation so far, in the format of POST /chat, without incomplete answers. */
function messagesFor(turn) {
  const said = turns
    .filter((other) => other !== turn && other.done && other.answer)
    .flatMap((other) => [
      { role: "user", content: other.question },
      {
        role: "assistant",
        content: other.answer.slice(0, MAX_ANSWER),
        cited: other.done.cited.map((passage) => passage.id).slice(0, MAX_CITED),
      },
    ]);
  return [...said, { role: "user", content: turn.question }].slice(-MAX_MESSAGES);
}

// Server-sent events

/** Yield the events of an answer: name and data. */
async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (waiting + value).split(/\r\n\r\n|\n\n|\r\r/);
    waiting = parts.pop();
    for (const part of parts) {
      const event = { name: "message", data: [] };
      for (const line of part.split(/\r\n|\n|\r/)) {
        const [, field, text] = line.match(/^([^:]*):? ?(.*)$/);
        if (field === "event") event.name = text;
        if (field === "data") event.data.push(text);
      }
      if (event.data.length) yield { name: event.name, data: JSON.parse(event.data.join("\n")) };
    }
  }
}

async function answerTurn(turn) {
  const request = new AbortController();
  running = request;
  Object.assign(turn, { answer: "", query: null, sources: [], done: null, error: null });
  save();
  showState();
  show(turn);
  try {
    const response = await postJson("chat", { messages: messagesFor(turn) }, request.signal);
    for await (const { name, data } of eventsOf(response)) {
      if (name === "sources") {
        turn.sources = data.sources;
        turn.query = { text: data.query, from: data.query_from, notice: data.query_notice, also: data.also_searched };
      }
      if (name === "delta") turn.answer += data.text;
      if (name === "done") turn.done = data;
      if (name === "error") turn.error = data.message;
      showSoon(turn);
    }
    if (!turn.done) turn.error ??= "The answer broke off.";
  } catch (error) {
    turn.error = error.name === "AbortError" ? "Stopped." : error.message;
  }
  if (running !== request) return; // A new conversation has begun.
  running = null;
  show(turn);
  showState();
  save();
  byId("status").textContent = turn.error ?? "The answer is complete.";
}

/** The answer without the notice at its end, which the page shows separately. */
function answerOf({ answer, done }) {
  const notice = done?.notice ?? "";
  return notice && answer.trimEnd().endsWith(notice) ? answer.slice(0, answer.lastIndexOf(notice)) : answer;
}

/** A question and its answer as Markdown, with the cited sources. */
function markdownOf(turn) {
  const answer = answerOf(turn).trim();
  const sources = turn.sources
    .filter((source) => answer.includes(`[${source.number}]`))
    .map((source) => {
      return `[${source.number}] ${nameOf(source)}: ${new URL(placeOf(source.document_id, source.id), location.href)}`;
    });
  const said = window.doubtedText?.(answer, turn.done) ?? answer;
  return [`## ${turn.question}`, said || turn.error, sources.join("\n")].filter(Boolean).join("\n\n");
}

async function copyAll() {
  const isCopied = await copyText(`${turns.map(markdownOf).join("\n\n")}\n`);
  byId("copied").textContent = isCopied ? "Copied." : "This browser does not allow copying.";
}

// Showing

const views = new Map();

function showTurn(turn) {
  const view = {
    answer: element("div", { class: "text", dir: "auto" }),
    after: element("div"),
    frame: 0,
  };
  views.set(turn, view);
  byId("turns").append(
    element("section", { class: "turn" }, element("h2", {}, isolated(turn.question)), view.answer, view.after),
  );
  show(turn);
}

/** Show a turn in the next frame, unless its conversation has ended: chunks arrive faster than frames. */
function showSoon(turn) {
  const view = views.get(turn);
  if (view) view.frame ||= requestAnimationFrame(() => views.has(turn) && show(turn));
}

function show(turn) {
  const view = views.get(turn);
  cancelAnimationFrame(view.frame);
  view.frame = 0;
  const wasAtEnd = innerHeight + scrollY >= document.body.scrollHeight - 80;
  const cited = new Set();
  const cite = (wanted) => {
    const source = turn.sources.find((candidate) => candidate.number === wanted);
    if (!source) return null;
    cited.add(wanted);
    return citeNode(source);
  };
  if (turn.answer) {
    const nodesOf = (text) => markdownNodes(text, { cite });
    const answer = answerOf(turn);
    view.answer.replaceChildren(...(window.doubtedNodes?.(answer, turn.done, nodesOf) ?? nodesOf(answer)));
  } else {
    const state = turn.sources.length
      ? `Reading ${plural(turn.sources.length, "passage")} …`
      : "Searching the documents …";
    view.answer.replaceChildren(...(turn.error ? [] : [element("p", { class: "waiting" }, state)]));
  }
  view.after.replaceChildren(...afterNodes(turn, cited));
  if (running && wasAtEnd) scrollTo({ top: document.body.scrollHeight, behavior: "instant" });
}

function citeNode(source) {
  const name = nameOf(source);
  return element("a", {
    class: "cite", href: placeOf(source.document_id, source.id), title: name,
    "aria-label": `Source ${source.number}: ${name}`,
  }, String(source.number));
}

function afterNodes(turn, cited) {
  const nodes = [];
  if (turn.query && ["conversation", "model"].includes(turn.query.from)) {
    const said = ["Searched for: ", isolated(turn.query.text)];
    if (turn.query.also) said.push(" and: ", isolated(turn.query.also));
    if (turn.query.notice) said.push(` (${turn.query.notice})`);
    nodes.push(element("p", { class: "about searched" }, ...said));
  }
  if (turn.done?.truncated) nodes.push(element("p", { class: "about" }, "The answer is not complete."));
  if (turn.done?.notice) nodes.push(element("p", { class: "about" }, turn.done.notice));
  if (turn.error) {
    const again = element("button", { type: "button", class: "again", disabled: running !== null }, "Ask again");
    again.addEventListener("click", () => answerTurn(turn));
    nodes.push(element("div", { class: "notice error" }, turn.error, again));
  }
  const used = turn.sources.filter((source) => cited.has(source.number));
  const others = turn.sources.filter((source) => !cited.has(source.number));
  const asked = turn.done ? turn.query?.text ?? turn.question : null;
  if (used.length) nodes.push(sourcesNode(used, "Sources", asked));
  if (others.length && turn.done) {
    const summary = `${plural(others.length, used.length ? "other passage" : "passage")} found`;
    nodes.push(element("details", {}, element("summary", {}, summary), sourcesNode(others, summary, asked)));
  }
  return nodes;
}

function sourcesNode(sources, label, asked) {
  const items = sources.map((source) => {
    const section = source.section[0] === source.title ? source.section.slice(1) : source.section;
    const where = [
      source.path === source.title ? null : isolated(source.path),
      dateNode(source),
      partOf(source),
      section.length ? isolated(section.join(" › ")) : null,
    ];
    return element(
      "li", {},
      element("span", { class: "cite", "aria-hidden": "true" }, String(source.number)),
      element(
        "span", {},
        element("a", { href: placeOf(source.document_id, source.id) }, isolated(source.title)),
        element("span", { class: "muted" }, " ", ...joinedNodes(where)),
        alsoAtNode(source),
        asked ? window.thumbsNode?.(source, asked) ?? null : null,
      ),
    );
  });
  return element("ol", { class: "sources", "aria-label": label }, ...items);
}

function showState() {
  byId("start").hidden = turns.length > 0;
  byId("anew").hidden = byId("copy").hidden = turns.length === 0;
  if (turns.length) comeFrom("chat");
  byId("send").hidden = running !== null;
  byId("stop").hidden = running === null;
  for (const again of document.querySelectorAll(".again")) again.disabled = running !== null;
}

// Requests

function askNow() {
  const text = question.value.trim();
  if (!text || running) return;
  const turn = { question: text, answer: "", query: null, sources: [], done: null, error: null };
  turns.push(turn);
  question.value = "";
  showTurn(turn);
  scrollTo({ top: document.body.scrollHeight });
  answerTurn(turn);
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  askNow();
});
question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !isComposing(event)) {
    event.preventDefault();
    askNow();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.target.closest("dialog")) running?.abort();
  if (event.key === "/" && !isTyping(event)) {
    event.preventDefault();
    question.focus();
  }
});
byId("stop").addEventListener("click", () => {
  running?.abort();
  question.focus();
});
byId("copy").addEventListener("click", copyAll);
byId("anew").addEventListener("click", () => {
  byId("copied").textContent = "";
  running?.abort();
  running = null;
  turns = [];
  views.clear();
  byId("turns").replaceChildren();
  save();
  showState();
  question.focus();
});

async function begin() {
  byId("notice").hidden = true;
  try {
    await loadAbout();
  } catch (error) {
    showError(byId("notice"), error, begin);
  }
}

restore();
begin();
