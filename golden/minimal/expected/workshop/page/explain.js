"use strict";

// Explains a response in words: its mode, and what the stages of the search did.

const REASONS = {
  default: "their scores were combined",
  requested: "you chose this mode",
  identifier: "the query is an identifier, so words alone decide",
  no_vectors: "there is nothing to compare by meaning, so words alone decide",
  embedder_unavailable: "meaning cannot be compared now, so words alone decide",
};
const MODES = { hybrid: "By meaning and words", semantic: "By meaning", keyword: "By words" };

const quote = (text) => `“${text}”`;
const quoteAll = (values) => values.map(quote).join(", ");

/** A sentence that explains why the first result comes first. */
function firstInWords([hit]) {
  if (hit.pinned) return `${quote(hit.title)} comes first: the owner pinned it to this query.`;
  const inLane = (name, score, rank) => {
    if (score === null || score === undefined) return null;
    if (rank === 1) return `the best by ${name} (${score.toFixed(2)})`;
    if (rank) return `number ${rank} by ${name} (${score.toFixed(2)})`;
    return score > 0 ? `further down by ${name} (${score.toFixed(2)})` : `not found by ${name}`;
  };
  const lanes = [
    inLane("meaning", hit.scores.semantic, hit.ranks.semantic),
    inLane("words", hit.scores.keyword, hit.ranks.keyword),
  ].filter(Boolean);
  const read = hit.scores.rerank === undefined
    ? "" : `, and a model that read it gave it ${hit.scores.rerank.toFixed(2)}`;
  return `${quote(hit.title)} comes first: it is ${lanes.join(" and ")}${read}.`;
}

const BY_DATE = "These are the best passages, newest first; passages without a date come last.";

/** The explanation of a response: the mode, its first result, and each stage. */
function explanationOf(answer, isByDate) {
  const isBoosted = answer.results.some((hit) => Object.keys(hit.boosts ?? {}).length > 0);
  return [
    answer.mode ? `${MODES[answer.mode] ?? answer.mode}: ${REASONS[answer.reason] ?? answer.reason}.` : null,
    isByDate ? BY_DATE : answer.results.length ? firstInWords(answer.results) : null,
    ...(answer.explanation ?? []),
    isBoosted ? "A factor marked × changed a score; all scores stay between 0 and 1." : null,
  ].filter(Boolean);
}

const HEDGES = {
  weak: "The documents may not answer this",
  none: "Nothing in the documents matches well",
};

/** Notices to show above the results: what was not found, or was unavailable. */
const noticesOf = ({ degraded, match, reason, results, stages, unknown_identifiers: unknown }) =>
  [
    ...Object.values(stages).map(({ notice }) => notice),
    results.length && HEDGES[match] ? `${HEDGES[match]}; these passages are the closest.` : null,
    unknown.length
      ? `${quoteAll(unknown)} ${unknown.length === 1 ? "occurs" : "occur"} nowhere in these documents.` : null,
    degraded ? `Found by words alone: ${REASONS[reason] ?? reason}.` : null,
  ].filter(Boolean);

/** Failures of stages; the search returned results in spite of them. */
const failuresOf = (answer) =>
  Object.entries(answer.stages)
    .filter(([, { failed }]) => failed !== undefined)
    .map(([name, { failed }]) => `${readable(name)}: ${failed}`);

/** The message for an empty result list. */
function nothingFound(answer, isFiltered) {
  const nothing = `Nothing found for ${quote(answer.query)}${isFiltered ? " with these filters" : ""}.`;
  return [nothing, ...(answer.explanation ?? [])].join(" ");
}

/** The score of a result: each lane's share as a bar, then the factors applied to it. */
function scoresNode(hit) {
  const row = (name, lane, score, rank) => {
    const fill = element("i", { class: lane });
    fill.style.width = `${100 * (score ?? 0)}%`;
    return element(
      "div", rank ? { title: `Rank ${rank} by ${name.toLowerCase()}` } : {},
      element("dt", {}, name),
      element("dd", { class: "bar", "aria-hidden": "true" }, fill),
      element("dd", {}, score === null ? "–" : score.toFixed(2), rank ? element("span", { class: "unseen" }, `, rank ${rank}`) : null),
    );
  };
  const factors = Object.entries(hit.boosts ?? {}).map(([name, factor]) =>
    element(
      "div", { class: "factor" },
      element("dt", {}, isolated(readable(name))),
      element("dd", {}, `× ${factor.toFixed(2)}`),
    ),
  );
  return element(
    "dl", { class: "scores", "aria-label": "Score and its parts" },
    element("div", { class: "total" }, element("dt", {}, "Score"), element("dd", {}, hit.score.toFixed(2))),
    row("Meaning", "semantic", hit.scores.semantic, hit.ranks.semantic),
    row("Words", "keyword", hit.scores.keyword, hit.ranks.keyword),
    hit.scores.rerank === undefined ? null : row("Reading", "rerank", hit.scores.rerank, null),
    ...factors,
  );
}
