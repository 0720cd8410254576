"use strict";

// The filters of a search: form fields, the request, and the URL.

let chosenTags = [];
// The controls of filters that only some servers have, by name.
const furtherFields = new Map();

/** Fill in the options of the form, and hide fields that cannot narrow the results. */
function makeFields(about) {
  byId("source-field").hidden = about.sources.length < 2;
  byId("source").append(...about.sources.map((name) => element("option", { value: name }, name)));
  byId("tag-field").hidden = about.tags.length === 0;
  byId("tags").append(...about.tags.map((name) => element("option", { value: name })));
  for (const field of document.querySelectorAll(".date")) field.hidden = about.newest === null;
  if (about.documents > 1) addField("path", "Path begins with", []);
  if (about.media_types.length > 1) {
    const kinds = about.media_types.map((type) => [type, nameOfMediaType(type)]);
    addField("media_type", "Kind", kinds.sort(([, one], [, other]) => one.localeCompare(other)));
  }
  for (const column of about.columns) {
    addField(column.name, readable(column.name), column.values.map((value) => [value, value]));
  }
}

/** Add a field: a list if the values are known, else free text. */
function addField(name, label, values) {
  const id = `filter-${furtherFields.size}`;
  const control = values.length
    ? element(
        "select", { id },
        element("option", { value: "" }, "Any"),
        ...values.map(([value, text]) => element("option", { value }, text)),
      )
    : element("input", { id, autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  control.addEventListener("change", filtersChanged);
  furtherFields.set(name, control);
  byId("clear-field").before(element("p", {}, element("label", { for: id }, isolated(label)), control));
}

/** The filters in the format of POST /search. */
function chosenFilters() {
  const filters = {};
  if (byId("source").value) filters.source = [byId("source").value];
  if (chosenTags.length) filters.tags = chosenTags;
  if (byId("after").value) filters.modified_after = byId("after").value;
  if (byId("before").value) filters.modified_before = byId("before").value;
  for (const [name, control] of furtherFields) {
    if (control.value.trim()) filters[name] = [control.value.trim()];
  }
  return filters;
}

/** Write the filters into URL parameters, named as in GET /search. */
function writeFilters(parameters) {
  const { source, tags = [], modified_after: after, modified_before: before, ...further } = chosenFilters();
  if (source) parameters.set("source", source[0]);
  for (const tag of tags) parameters.append("tag", tag);
  if (after) parameters.set("after", after);
  if (before) parameters.set("before", before);
  for (const [name, [value]] of Object.entries(further)) parameters.append("filter", `${name}=${value}`);
}

function readFilters(parameters) {
  byId("source").value = parameters.get("source") ?? "";
  chosenTags = parameters.getAll("tag");
  byId("after").value = parameters.get("after") ?? "";
  byId("before").value = parameters.get("before") ?? "";
  const wanted = new Map(parameters.getAll("filter").map((pair) => pair.split(/=(.*)/s)));
  for (const [name, control] of furtherFields) control.value = wanted.get(name) ?? "";
  // Ignore an option that no longer exists.
  for (const choice of byId("filters").querySelectorAll("select")) {
    if (choice.selectedIndex < 0) choice.selectedIndex = 0;
  }
  showFilters();
  byId("filters").open = Object.keys(chosenFilters()).length > 0;
}

function showFilters() {
  const count = Object.keys(chosenFilters()).length;
  byId("filter-count").textContent = count ? ` (${count})` : "";
  byId("chosen-tags")?.replaceChildren(
    ...chosenTags.map((tag) => {
      const button = element("button", { type: "button", class: "tag", "aria-label": `Remove the tag ${tag}` }, isolated(tag), " ×");
      button.addEventListener("click", () => chooseTags(chosenTags.filter((other) => other !== tag)));
      return element("li", {}, button);
    }),
  );
}

function filtersChanged() {
  showFilters();
  searchNow();
}

function chooseTags(tags) {
  chosenTags = [...new Set(tags)];
  filtersChanged();
}

for (const id of ["source", "after", "before"]) byId(id).addEventListener("change", filtersChanged);
byId("tag").addEventListener("change", () => {
  const tag = byId("tag").value.trim();
  byId("tag").value = "";
  if (tag) chooseTags([...chosenTags, tag]);
});
byId("clear-filters").addEventListener("click", () => {
  for (const field of byId("filters").querySelectorAll("input, select")) field.value = "";
  chooseTags([]);
});
