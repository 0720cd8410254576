"use strict";

// Thumbs for a result, where the server keeps them for its owner.

let keepsThumbs = null;

/** Two buttons that say whether a result answers what was asked; one of them may be pressed. */
function thumbsNode(hit, asked) {
  // Asked once something was found: before that, the page may have no token.
  keepsThumbs ??= askJson("thumbs").then(({ kept }) => kept, () => false);
  const node = element("p", { class: "thumbs", hidden: true });
  const buttons = [["up", "Helpful"], ["down", "Not helpful"]].map(([thumb, label]) => {
    const button = element("button", { type: "button", "aria-pressed": "false" }, label);
    button.addEventListener("click", async () => {
      try {
        const response = await postJson("thumbs", { query: asked, id: hit.id, thumb });
        const { kept } = await response.json();
        if (!kept) throw new Error("The server could not keep it.");
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
