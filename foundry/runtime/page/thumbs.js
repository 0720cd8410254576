"use strict";

// Thumbs for a result, if the server logs them for its owner.

let keepsThumbs = null;

/** Two buttons to rate whether a result answers the query; at most one is pressed. */
function thumbsNode(hit, asked) {
  // The request is sent only after a search succeeded: before that, the page may have no token.
  keepsThumbs ??= askJson("thumbs").then(({ kept }) => kept, () => false);
  const node = element("p", { class: "thumbs", hidden: true });
  const buttons = [["up", "Helpful"], ["down", "Not helpful"]].map(([thumb, label]) => {
    const button = element("button", { type: "button", "aria-pressed": "false" }, label);
    button.addEventListener("click", async () => {
      try {
        const response = await postJson("thumbs", { query: asked, id: hit.id, thumb });
        const { kept } = await response.json();
        if (!kept) throw new Error("The server could not log it.");
      } catch (error) {
        said.textContent = error.message;
        return;
      }
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      said.textContent = "Noted for the owner.";
    });
    return button;
  });
  const said = element("span", { role: "status" });
  node.append(...buttons, said);
  keepsThumbs.then((kept) => {
    node.hidden = !kept;
  });
  return node;
}
