"use strict";

const PAUSE_MS = 140;
const FINISH_MS = 2000;
const STEP = 10;
const MAX_RESULTS = 100;

let about = {};
let wanted = STEP;
let running = null;
let timer = null;
let finishing = null;
let isFinished = true;
let isWhole = true;
let shown = "";

const query = byId("query");
const results = byId("results");
const chosenMode = () => document.querySelector("[name=mode]:checked").value;
const say = (text) => {
  byId("status").textContent = text;
};

// The request, and the URL that represents it

function writeAddress(isSubmitted) {
  const parameters = new URLSearchParams();
  if (query.value.trim()) parameters.set("q", query.value.trim());
  if (chosenMode() !== "hybrid") parameters.set("mode", chosenMode());
  writeFilters(parameters);
  if (byId("newest").checked) parameters.set("sort", "date");
  if (wanted > STEP) parameters.set("top", wanted);
  writeEntry(parameters.toString(), isSubmitted);
}

function readAddress() {
  const parameters = new URLSearchParams(location.search);
  query.value = parameters.get("q") ?? "";
  for (const choice of document.getElementsByName("mode")) {
    choice.checked = choice.value === (parameters.get("mode") ?? "hybrid");
  }
  if (!document.querySelector("[name=mode]:checked")) byId("modes").querySelector("input").checked = true;
  const top = Number(parameters.get("top"));
  wanted = Number.isInteger(top) ? Math.min(Math.max(top, STEP), MAX_RESULTS) : STEP;
  readFilters(parameters);
  byId("newest").checked = Boolean(about.sorting) && parameters.get("sort") === "date";
}

// Searching: only the response to the latest request is shown

/** Search while the user types; the last word is complete after a space or a pause. */
function searchSoon() {
  clearTimeout(timer);
  clearTimeout(finishing);
  isFinished = isWhole = /\s$/.test(query.value);
  timer = setTimeout(searchNow, PAUSE_MS, { isTyped: true });
  if (!isFinished) finishing = setTimeout(finish, FINISH_MS, false);
}

function finish(isSubmitted = true) {
  clearTimeout(finishing);
  isFinished = true;
  isWhole ||= isSubmitted;
  return search();
}

function searchNow({ keepLength = false, isTyped = false } = {}) {
  clearTimeout(timer);
  if (!keepLength) wanted = STEP;
  writeAddress(!isTyped);
  return isTyped ? search() : finish();
}

async function search() {
  running?.abort();
  const text = query.value.trim();
  byId("start").hidden = text !== "";
  if (!text) {
    running = null;
    shown = "";
    results.replaceChildren();
    results.classList.remove("waiting");
    byId("more").hidden = true;
    byId("notice").hidden = true;
    byId("offers").hidden = true;
    showExplanation(null);
    say("");
    return;
  }
  const request = new AbortController();
  running = request;
  results.classList.add("waiting");
  const late = setTimeout(() => say("Searching …"), 400);
  try {
    const body = {
      query: text,
      top_k: wanted,
      group: "document",
      filters: chosenFilters(),
      ...(about.semantic ? { mode: chosenMode() } : {}),
      ...(isWhole ? {} : { prefix: true }),
      ...(window.showFacets ? { facets: true } : {}),
      ...(byId("newest").checked ? { sort: "date" } : {}),
    };
    const answer = await (await postJson("search", body, request.signal)).json();
    if (running !== request) return;
    comeFrom(location.search, answer.results.flatMap(passagesOf).flatMap(foundWords));
    showAnswer(answer);
  } catch (error) {
    if (running !== request || error.name === "AbortError") return;
    shown = "";
    results.replaceChildren();
    byId("more").hidden = true;
    byId("offers").hidden = true;
    showExplanation(null);
    say("");
    showError(byId("notice"), error, search);
  } finally {
    clearTimeout(late);
    if (running === request) results.classList.remove("waiting");
  }
}

function showAnswer(answer) {
  const count = answer.results.length;
  // No notices while the user types, since the last word may be incomplete.
  const notices = isFinished ? noticesOf(answer) : [];
  byId("notice").hidden = notices.length === 0;
  byId("notice").replaceChildren(
    ...notices.map((text) => element("div", { class: "notice" }, isolated(text))),
  );
  const isFiltered = Object.keys(chosenFilters()).length > 0;
  const found = count
    ? `${plural(count, "result")} in ${answer.took_ms.toFixed(1)} ms`
    : isFinished ? nothingFound(answer, isFiltered) : null;
  const because = answer.reason === "identifier" ? REASONS.identifier : null;
  const order = count > 1 && byId("newest").checked ? "the newest first" : null;
  say([found, order, because, ...failuresOf(answer)].filter(Boolean).join(" · "));
  const offers = isFinished ? [...originalOf(answer), ...(count ? [] : offersOf(isFiltered))] : [];
  byId("offers").hidden = offers.length === 0;
  byId("offers").replaceChildren(...offers);
  showExplanation(answer);
  const key = JSON.stringify(answer.results.flatMap(passagesOf).map((hit) => hit.id)) + answer.query + answer.mode;
  if (key !== shown) {
    const place = focusedPlace();
    results.replaceChildren(...answer.results.map((hit) => resultNode(hit, answer.query)));
    if (place >= 0) focusResult(place);
  }
  shown = key;
  byId("more").hidden = count < wanted || wanted >= MAX_RESULTS;
}

function offer(text, take) {
  const button = element("button", { type: "button" }, text);
  button.addEventListener("click", () => {
    take();
    query.focus();
  });
  return button;
}

/** The query as typed, if a different one was searched for. */
function originalOf({ stages }) {
  const original = Object.values(stages).find((details) => details.original)?.original;
  const search = () => {
    query.value = original;
    searchNow();
  };
  return original ? [offer(`Search instead for: ${original}`, search)] : [];
}

/** Links to searches that may find something if this one found nothing. */
function offersOf(isFiltered) {
  const both = byId("modes").querySelector("input");
  return [
    both.checked || !about.semantic ? null : offer("Search by meaning and words", () => both.click()),
    isFiltered ? offer("Search without the filters", () => byId("clear-filters").click()) : null,
  ].filter(Boolean);
}

/** Show the explanation and the facets of a response; hide them if there is no response. */
function showExplanation(answer) {
  window.showFacets?.(answer);
  byId("explanation").hidden = byId("share").hidden = answer === null;
  const sentences = answer ? explanationOf(answer, byId("newest").checked) : [];
  byId("explained").replaceChildren(...sentences.map((text) => element("li", {}, isolated(text))));
}

// The URL represents the whole view: query, mode, filters and number of results.
byId("share").append(copyButton(["Copy a link to this search"], () => location.href, { class: "quiet" }));

// The keyboard

/** The index of the focused result; -1 if none. */
const focusedPlace = () =>
  [...results.children].findIndex((result) => result.contains(document.activeElement));

function focusResult(place) {
  results.children[Math.min(place, results.children.length - 1)]?.querySelector("a.hit").focus();
}

const SIDES = { ArrowRight: 1, ArrowLeft: -1 };

function move(step) {
  const place = focusedPlace() + step;
  if (place < 0) query.focus();
  else focusResult(place);
}

document.addEventListener("keydown", (event) => {
  if (isComposing(event) || event.target.closest("dialog")) return;
  const isInQuery = event.target === query;
  const key = keyOf(event);
  const steps = { ArrowDown: 1, ArrowUp: -1, ...(isInQuery ? {} : { j: 1, k: -1 }) };
  if (isTyping(event) && !isInQuery) {
    return;
  } else if (key === "Escape") {
    query.value = "";
    query.focus();
    searchNow();
  } else if (key === "/" && !isInQuery) {
    query.focus();
    query.select();
  } else if (key in SIDES && event.target.closest("#results")) {
    if (!moveWithin(results.children[focusedPlace()], SIDES[key])) return;
  } else if (key in steps && !event.target.matches("[type=radio], summary")) {
    move(steps[key]);
  } else {
    return;
  }
  event.preventDefault();
});

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  searchNow();
});
query.addEventListener("input", (event) => {
  clearTimeout(finishing);
  if (!event.isComposing) searchSoon();
});
query.addEventListener("compositionend", searchSoon);
byId("modes").addEventListener("change", searchNow);
byId("newest").addEventListener("change", searchNow);
byId("more").addEventListener("click", async () => {
  const before = results.children.length;
  wanted = Math.min(wanted + STEP, MAX_RESULTS);
  await searchNow({ keepLength: true });
  focusResult(before);
});
addEventListener("popstate", () => {
  clearTimeout(timer);
  readAddress();
  returnAfter(finish());
});

async function begin() {
  try {
    about = await loadAbout();
  } catch (error) {
    showError(byId("notice"), error, begin);
    return;
  }
  byId("notice").hidden = true;
  byId("description").replaceChildren(isolated(about.description));
  byId("counts").textContent = `${plural(about.documents, "document")}, ${plural(about.chunks, "passage")}`;
  byId("modes").hidden = !about.semantic;
  byId("newest-field").hidden = !about.sorting;
  makeFields(about);
  byId("examples").hidden = about.examples.length === 0;
  byId("examples").querySelector("ul").replaceChildren(
    ...about.examples.map((text) => {
      const button = element("button", { type: "button", class: "quiet" }, isolated(text));
      button.addEventListener("click", () => {
        query.value = text;
        query.focus();
        searchNow();
      });
      return element("li", {}, button);
    }),
  );
  // Text typed in the meantime takes precedence.
  const typed = query.value;
  readAddress();
  query.value = typed;
  returnAfter(search());
}

query.value = new URLSearchParams(location.search).get("q") ?? "";
begin();
