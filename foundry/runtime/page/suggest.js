"use strict";

// Suggestions for a query from GET /suggest: a combobox with a listbox (WAI-ARIA 1.2).

/** Show suggestions below a field while the user types; `take` is called with the chosen one. */
function suggestBelow(field, list, take) {
  let asked = null;
  let chosen = -1;

  function choose(place) {
    chosen = place;
    [...list.children].forEach((option, at) => option.setAttribute("aria-selected", at === place));
    const option = list.children[place];
    if (option) field.setAttribute("aria-activedescendant", option.id);
    else field.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }

  function show(suggestions) {
    list.replaceChildren(
      ...suggestions.map(({ text, kind }, place) => {
        const option = element("li", { role: "option", id: `suggestion-${place}`, class: kind }, isolated(text));
        // This event comes before the field loses focus, which would close the list.
        option.addEventListener("mousedown", (event) => {
          event.preventDefault();
          pick(text);
        });
        return option;
      }),
    );
    list.hidden = suggestions.length === 0;
    field.setAttribute("aria-expanded", !list.hidden);
    choose(-1);
  }

  function close() {
    asked?.abort();
    asked = null;
    show([]);
  }

  function pick(text) {
    field.value = text;
    close();
    take();
  }

  async function ask(text) {
    asked?.abort();
    const request = new AbortController();
    asked = request;
    try {
      const path = `suggest?q=${encodeURIComponent(text)}`;
      const { suggestions } = await askJson(path, { signal: request.signal });
      if (asked === request) show(suggestions);
    } catch {
      // Failing suggestions must not affect the search.
      if (asked === request) show([]);
    }
  }

  const steps = { ArrowDown: 1, ArrowUp: -1 };
  const handlers = {
    move: (event) => {
      const count = list.children.length;
      const next = chosen + steps[event.key];
      // The typed text comes between the last suggestion and the first one.
      choose(next === count ? -1 : next < -1 ? count - 1 : next);
    },
    Enter: () => pick(list.children[chosen].textContent),
    Escape: close,
  };
  field.addEventListener("keydown", (event) => {
    if (isComposing(event)) return;
    if (event.key === "Enter" && chosen < 0) close();
    if (list.hidden) return;
    const handle = event.key in steps ? handlers.move : handlers[event.key];
    if (!handle) return;
    handle(event);
    event.preventDefault();
    // The page's shortcuts apply only while the list is closed.
    event.stopPropagation();
  });
  field.addEventListener("input", (event) => {
    if (event.isComposing) return;
    if (field.value.trim() && field.value.length <= 200) ask(field.value);
    else close();
  });
  field.addEventListener("blur", close);
  for (const [name, value] of Object.entries({
    role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id,
  })) {
    field.setAttribute(name, value);
  }
}

const suggestions = element("ul", {
  id: "suggestions", role: "listbox", "aria-label": "Suggestions", hidden: true,
});
query.parentElement.append(suggestions);
suggestBelow(query, suggestions, searchNow);
