"use strict";

// The history of this tab: an entry for each submitted search, with its scroll position.

const KEEP_MS = 120;
let keeping = null;

// Results arrive after the page has loaded, so the browser would restore the position too soon.
history.scrollRestoration = "manual";

/** Store values in the current history entry, for returning to it. */
const note = (more) => history.replaceState({ ...history.state, ...more }, "");

/** Update the URL: a submitted search adds a history entry, typing replaces it. */
function writeEntry(written, isSubmitted) {
  clearTimeout(keeping);
  if (written === location.search.slice(1)) {
    // Browsers limit how often the URL may change.
    if (isSubmitted && !history.state?.isSubmitted) note({ isSubmitted });
    return;
  }
  const address = written ? `?${written}` : location.pathname;
  if (history.state?.isSubmitted) {
    note({ top: scrollY });
    history.pushState({ isSubmitted }, "", address);
  } else {
    history.replaceState({ isSubmitted }, "", address);
  }
}

/** Restore the scroll position of the current entry once its content is loaded. */
async function returnAfter(showing) {
  clearTimeout(keeping);
  const { top = 0 } = history.state ?? {};
  await showing;
  scrollTo(0, top);
}

addEventListener("scroll", () => {
  clearTimeout(keeping);
  keeping = setTimeout(() => note({ top: scrollY }), KEEP_MS);
}, { passive: true });
// After opening a result, going back returns to this search, submitted or not.
addEventListener("pagehide", () => note({ top: scrollY, isSubmitted: location.search !== "" }));
if (location.search) note({ isSubmitted: true });
