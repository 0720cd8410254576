"use strict";

// One result of a search: what it is, where it stands, and how its score came about.

function resultNode(hit, matcher) {
  const title = element("a", { href: placeOf(hit.document_id, hit.id), class: "hit" });
  title.append(element("bdi", {}, ...markedNodes(hit.title, matcher(hit.title))));
  const tags = hit.tags.map((tag) => {
    const button = element("button", { type: "button", class: "tag", title: "Only with this tag" }, isolated(tag));
    button.addEventListener("click", () => chooseTags([...chosenTags, tag]));
    return element("li", {}, button);
  });
  return element(
    "li", {},
    element(
      "article", {},
      element("h2", {}, title),
      element("p", { class: "where" }, ...whereNodes(hit)),
      element("p", { class: "snippet", dir: "auto" }, ...snippetNodes(plainLine(hit.text, hit.section.at(-1)), matcher)),
      tags.length ? element("ul", { class: "tags", "aria-label": "Tags" }, ...tags) : null,
      scoresNode(hit),
    ),
  );
}

function whereNodes(hit) {
  const path = hit.section[0] === hit.title ? hit.section.slice(1) : hit.section;
  const address = webAddress(hit.url);
  const parts = [
    path.length ? isolated(path.join(" › ")) : null,
    isolated(hit.path),
    about.sources?.length > 1 ? isolated(hit.source) : null,
    hit.modified ? element("time", { datetime: hit.modified }, hit.modified.slice(0, 10)) : null,
    hit.near_duplicates ? `stands for ${hit.near_duplicates.length} more like it` : null,
    address ? element("a", { href: address, rel: "noreferrer" }, new URL(address).host) : null,
  ];
  return parts.filter(Boolean).flatMap((part, place) => (place ? [" · ", part] : [part]));
}

function scoresNode(hit) {
  const row = (name, lane, score) => {
    const fill = element("i", { class: lane });
    fill.style.width = `${100 * (score ?? 0)}%`;
    return element(
      "div", {},
      element("dt", {}, name),
      element("dd", { class: "bar", "aria-hidden": "true" }, fill),
      element("dd", {}, score === null ? "–" : score.toFixed(2)),
    );
  };
  return element(
    "dl", { class: "scores", "aria-label": "Score and its parts" },
    element("div", { class: "total" }, element("dt", {}, "Score"), element("dd"), element("dd", {}, hit.score.toFixed(2))),
    row("Meaning", "semantic", hit.scores.semantic),
    row("Words", "keyword", hit.scores.keyword),
    hit.scores.rerank === undefined ? null : row("Reading", "rerank", hit.scores.rerank),
  );
}
