"use strict";

// How an answer came about, in words: why this mode, and what the stages of the search did.

const REASONS = {
  default: "their scores were combined",
  requested: "this way to search was asked for",
  identifier: "the query is an identifier, so words alone decide",
  no_vectors: "there is nothing to compare by meaning, so words alone decide",
  embedder_unavailable: "meaning cannot be compared now, so words alone decide",
};
const MODES = { hybrid: "By meaning and words", semantic: "By meaning", keyword: "By words" };

const BOOSTS = {
  anchors: "Identifiers",
  recency: "Recent",
  links: "Linked",
  feedback: "Feedback",
  entities: "Names",
  category: "Kind",
};

const FAILING = { understanding: "Understanding the query", rerank: "Reranking" };

const quote = (text) => `“${text}”`;
const listed = (values) => values.map(quote).join(", ");

// For each stage, what its details say, as sentences.
const STAGES = {
  understanding: ({ query_used: used, filters }) => [
    used ? `A language model put the query as ${quote(used)}.` : null,
    filters ? `It read these filters from the query: ${filtersInWords(filters)}.` : null,
  ],
  operators: ({ phrases = [], required = [], excluded = [], filters, unread }) => [
    phrases.length + required.length ? `Only what has ${listed([...phrases, ...required])}.` : null,
    excluded.length ? `Nothing that has ${listed(excluded)}.` : null,
    filters ? `Only ${filtersInWords(filters)}.` : null,
    unread ? `${plural(unread, "passage")} with the words of a phrase were not read for it.` : null,
  ],
  correction: ({ corrected }) => Object.entries(corrected).map(
    ([typed, used]) => `No document has ${quote(typed)}; ${quote(used)} was searched for.`,
  ),
  synonyms: ({ added }) => Object.entries(added).map(
    ([form, others]) => `${quote(form)} was searched for as ${listed(others)}, too.`,
  ),
  budget: ({ stopped }) => [`Too much work for one query, left out in part: ${stopped.map(readable).join(", ")}.`],
  query_length: () => ["The query is long, and only its beginning was searched for."],
  expansion: ({ words }) => [words.length ? `The meaning was widened by ${listed(words)}.` : null],
  adaptive_weights: ({ semantic, keyword }) => [
    `For this query, meaning weighs ${number(semantic)} and words ${number(keyword)}.`,
  ],
  links: ({ documents }) => [`${plural(documents, "document")} linked with the best came nearer.`],
  minimum_score: ({ dropped }) => [`${plural(dropped, "passage")} below the minimum score left out.`],
  near_duplicates: ({ removed }) => [`${plural(removed, "near duplicate")} put under the passage they repeat.`],
  pinned: ({ documents }) => [`${plural(documents, "document")} pinned to this query by the owner.`],
  document_cap: ({ left_out: count }) => [
    `${plural(count, "passage")} left out, since enough others are from the same document.`,
  ],
  parents: ({ merged }) => [`${plural(merged, "result")} joined with a better one from the same passage.`],
  rerank: ({ hits }) => [`A model read ${plural(hits, "passage")} against the query and ordered them.`],
};

const filtersInWords = (filters) =>
  Object.entries(filters).map(([name, value]) => `${readable(name)} ${quote([value].flat().join(", "))}`).join(", ");

/** What one stage did; a stage of the owner's own is shown as JSON. */
function sentencesOf(name, { failed, ...details }) {
  if (Object.keys(details).length === 0) return [];
  try {
    if (Object.hasOwn(STAGES, name)) return STAGES[name](details).filter(Boolean);
  } catch {
    // Details that are not as expected, of a server whose stages were edited.
  }
  return [`${readable(name)}: ${JSON.stringify(details)}`];
}

/** Why the first result comes first, in a sentence. */
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

const BY_DATE = "These passages fit best; among them the newest comes first, and one without a date last.";

/** What the whole answer says about itself: the mode, its first result, and each stage. */
function explanationOf(answer, isByDate) {
  const stages = Object.entries(answer.stages);
  const isBoosted = answer.results.some((hit) => Object.keys(hit.boosts ?? {}).length > 0);
  return [
    answer.mode ? `${MODES[answer.mode] ?? answer.mode}: ${REASONS[answer.reason] ?? answer.reason}.` : null,
    isByDate ? BY_DATE : answer.results.length ? firstInWords(answer.results) : null,
    ...stages.flatMap(([name, details]) => sentencesOf(name, details)),
    isBoosted ? "A factor marked × moved a score; scores are then kept between 0 and 1." : null,
  ].filter(Boolean);
}

const HEDGES = {
  weak: "The documents may not answer this",
  none: "Nothing in the documents matches well",
};

/** What a reader has to know before reading: what was not found, or could not be asked. */
const noticesOf = ({ degraded, match, reason, results, stages, unknown_identifiers: unknown }) =>
  [
    ...Object.values(stages).map(({ notice }) => notice),
    results.length && HEDGES[match] ? `${HEDGES[match]}; these passages are the nearest.` : null,
    unknown.length
      ? `${listed(unknown)} ${unknown.length === 1 ? "is" : "are"} nowhere in these documents.` : null,
    degraded ? `Found by words alone: ${REASONS[reason] ?? reason}.` : null,
  ].filter(Boolean);

/** What stages could not do, which did not keep the search from answering. */
const failuresOf = (answer) =>
  Object.entries(answer.stages)
    .filter(([, { failed }]) => failed !== undefined)
    .map(([name, { failed }]) => `${FAILING[name] ?? readable(name)}: ${failed}`);

/** What to say where nothing was found. */
function nothingFound(answer, isFiltered) {
  const dropped = answer.stages.minimum_score;
  if (dropped?.best_dropped !== undefined) {
    return `Nothing found for ${quote(answer.query)} that reaches the minimum score; the best of`
      + ` ${plural(dropped.dropped, "passage")} has ${dropped.best_dropped.toFixed(2)}.`;
  }
  return `Nothing found for ${quote(answer.query)}${isFiltered ? " with these filters" : ""}.`;
}

/** The score of a result: each lane's share as a bar, then the factors that moved it. */
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
      element("dt", {}, isolated(BOOSTS[name] ?? readable(name))),
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
