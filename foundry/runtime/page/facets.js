"use strict";

// Facets: a button with a count for each filter value among the best passages.

const FACETS = { source: "Source", path: "Folder", tags: "Tag", media_type: "Kind" };

const facetRows = element("div", { class: "facets" });
const facetCounted = element("span");
const facets = element(
  "details", { id: "facets", hidden: true, open: matchMedia("(min-width: 48rem)").matches },
  element("summary", {}, "Narrow down", facetCounted),
  facetRows,
);
document.querySelector(".outcome").before(facets);
// The facets show the chosen tags, so this list is not needed.
byId("chosen-tags").remove();

/** Select or deselect a filter value. */
function choose(filter, value, isChosen) {
  if (filter === "tags") {
    chooseTags(isChosen ? chosenTags.filter((tag) => tag !== value) : [...chosenTags, value]);
    return;
  }
  const control = filter === "source" ? byId("source") : furtherFields.get(filter);
  control.value = isChosen ? "" : value;
  filtersChanged();
}

function choiceNode(filter, value, count, isChosen) {
  const name = filter === "media_type" ? nameOfMediaType(value) : value;
  const told = count === undefined ? [] : [" ", element("span", { class: "count" }, number(count))];
  const button = element(
    "button", { type: "button", class: "tag", "aria-pressed": String(isChosen) }, isolated(name), ...told,
  );
  button.dataset.choice = `${filter}=${value}`;
  button.addEventListener("click", () => choose(filter, value, isChosen));
  return element("li", {}, button);
}

/** The facet of one filter; null if there is nothing to select or deselect. */
function facetNode(filter, { values, others }, counted) {
  const chosen = chosenFilters()[filter] ?? [];
  const counts = new Map(values.map(({ value, count }) => [value, count]));
  const offered = values.filter(({ value, count }) => count < counted && !chosen.includes(value));
  if (!offered.length && !chosen.length) return null;
  const label = FACETS[filter] ?? readable(filter);
  return element(
    "div", {},
    element("span", { class: "muted" }, isolated(label)),
    element(
      "ul", { class: "tags", "aria-label": label },
      ...chosen.map((value) => choiceNode(filter, value, counts.get(value), true)),
      ...offered.map(({ value, count }) => choiceNode(filter, value, count, false)),
      others ? element("li", {}, element("span", { class: "others" }, `and ${plural(others, "other")}`)) : null,
    ),
  );
}

/** Show the facets of a response; hide them if there is no response. */
function showFacets(answer) {
  const { counted = 0, filters = [] } = answer?.facets ?? {};
  const found = new Map(filters.map((facet) => [facet.filter, facet]));
  const names = new Set([...found.keys(), ...(answer ? Object.keys(chosenFilters()) : [])]);
  const nothing = { values: [], others: 0 };
  const nodes = [...names]
    .filter((name) => !name.startsWith("modified_"))
    .map((name) => facetNode(name, found.get(name) ?? nothing, counted));
  const focused = document.activeElement.dataset.choice;
  facetRows.replaceChildren(...nodes.filter(Boolean));
  facetCounted.textContent = counted ? `, by the ${plural(counted, "best passage")}` : "";
  facets.hidden = facetRows.children.length === 0;
  if (!focused) return;
  const again = [...facetRows.querySelectorAll("button")].find((button) => button.dataset.choice === focused);
  (again ?? facets.querySelector("summary")).focus();
}
