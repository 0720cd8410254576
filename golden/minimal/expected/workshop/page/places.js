"use strict";

// The history of this tab: an entry for each search that was submitted, with the place on its page.

const KEEP_MS = 120;
let keeping = null;

// Results come after the page, so the browser would scroll too soon.
history.scrollRestoration = "manual";

/** Note on the current entry what a return to it needs. */
const note = (more) => history.replaceState({ ...history.state, ...more }, "");

/** Write an address: after a submitted search as an entry of its own, else over what was typed. */
function writeEntry(written, isSubmitted) {
  clearTimeout(keeping);
  if (written === location.search.slice(1)) {
    // Browsers allow only so many changes of the address in a time.
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

/** Go to the place of the current entry once what it shows is there. */
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
// Whoever opens a result comes back to this search, however it was asked.
addEventListener("pagehide", () => note({ top: scrollY, isSubmitted: location.search !== "" }));
if (location.search) note({ isSubmitted: true });
