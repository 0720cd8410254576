"use strict";

const METHODS = ["post", "get", "put", "patch", "delete"];
const MAX_SHOWN = 200_000;

function operationNode(method, path, operation) {
  const id = `${method}-${path}`;
  const body = operation.requestBody?.content?.["application/json"]?.schema;
  const parameters = operation.parameters ?? [];
  const node = element(
    "details", { class: "operation" },
    element(
      "summary", {},
      element("span", { class: `method ${method}` }, method.toUpperCase()),
      element("code", {}, path),
      element("span", { class: "muted" }, (operation.description ?? operation.summary ?? "").split("\n")[0]),
    ),
  );
  // Fields are created when the endpoint is opened, so that a long document appears quickly.
  node.addEventListener("toggle", () => {
    if (node.open && node.children.length === 1) {
      node.append(
        element(
          "div", { class: "inside" },
          parameters.length ? element("h3", {}, "Parameters") : null,
          parameters.length
            ? element("ul", { class: "fields" }, ...parameters.map((parameter) =>
                fieldNode(parameter.name, { ...parameter.schema, description: parameter.description ?? parameter.schema?.description }, parameter.required)))
            : null,
          body ? element("h3", {}, "Body") : null,
          body ? fieldsNode(body) : null,
          element("h3", {}, "Try it"),
          tryNode(method, path, parameters, body),
          ...Object.entries(operation.responses ?? {}).flatMap(([status, answer]) => answerNodes(status, answer)),
        ),
      );
    }
    if (node.open) history.replaceState(null, "", `#${encodeURIComponent(id)}`);
  });
  node.dataset.id = id;
  return node;
}

function answerNodes(status, answer) {
  const nodes = [element("h3", {}, status === "default" ? "Any other status" : `Status ${status}`)];
  if (answer.description && answer.description !== "Successful Response") nodes.push(element("p", { class: "muted" }, answer.description));
  for (const [type, content] of Object.entries(answer.content ?? {})) {
    // For a stream, describe its events.
    const schema = content.schema?.["x-event-data"] ?? content.schema;
    nodes.push(element("div", {}, element("code", {}, type), schema ? fieldsNode(schema) : null));
  }
  return nodes;
}

// Trying requests

function tryNode(method, path, parameters, body) {
  const inputs = parameters.map((parameter) => {
    const choices = resolve(parameter.schema).enum;
    const input = choices
      ? element("select", {}, element("option", { value: "" }), ...choices.map((choice) => element("option", {}, String(choice))))
      : element("input", { autocomplete: "off", spellcheck: "false", required: parameter.required, placeholder: String(parameter.schema?.default ?? "") });
    return { parameter, input };
  });
  const text = body
    ? element("textarea", { spellcheck: "false" }, JSON.stringify(exampleOf(body), null, 2))
    : null;
  const send = element("button", { class: "main" }, "Send");
  const stop = element("button", { type: "button", hidden: true }, "Stop");
  const state = element("span", { class: "muted", role: "status" });
  const reply = element("pre", { class: "block reply", tabindex: "0", hidden: true, "aria-label": "Answer" });
  const curl = element("pre", { class: "block curl", tabindex: "0", "aria-label": "The same with curl" });
  const form = element(
    "form", { class: "try" },
    ...inputs.map(({ parameter, input }) => element("label", {}, parameter.name, input)),
    text ? element("label", { class: "body" }, "Body", text) : null,
    element("p", { class: "actions" }, send, stop, state),
    reply,
    curl,
  );
  const request = () => requestOf(method, path, inputs, text);
  const showCurl = () => {
    curl.textContent = curlOf(request());
  };
  form.addEventListener("input", showCurl);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const abort = new AbortController();
    stop.onclick = () => abort.abort();
    send.disabled = true;
    stop.hidden = false;
    state.textContent = "Waiting …";
    reply.hidden = false;
    reply.textContent = "";
    try {
      await showReply(request(), abort.signal, state, reply);
    } catch (error) {
      state.textContent = error.name === "AbortError" ? "Stopped" : (error.message ?? "Failed");
    }
    send.disabled = false;
    stop.hidden = true;
  });
  showCurl();
  return form;
}

function requestOf(method, path, inputs, text) {
  const query = new URLSearchParams();
  let place = path.slice(1);
  for (const { parameter, input } of inputs) {
    if (parameter.in === "path") {
      place = place.replace(`{${parameter.name}}`, input.value ? encodeURIComponent(input.value) : `{${parameter.name}}`);
    } else if (input.value) {
      const isList = resolve(parameter.schema).type === "array";
      for (const value of isList ? input.value.split(",") : [input.value]) query.append(parameter.name, value.trim());
    }
  }
  const written = query.toString();
  return { method: method.toUpperCase(), path: written ? `${place}?${written}` : place, body: text?.value };
}

async function showReply({ method, path, body }, signal, state, reply) {
  const started = performance.now();
  const headers = { Accept: "application/json, text/event-stream, text/markdown" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await ask(path, { method, body, headers, signal });
  const type = response.headers.get("content-type") ?? "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let shown = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    shown += value;
    if (shown.length > MAX_SHOWN) {
      await reader.cancel();
      shown = `${shown.slice(0, MAX_SHOWN)}\n…`;
      break;
    }
    if (type.includes("event-stream")) reply.textContent = shown;
  }
  reply.textContent = type.includes("json") && !shown.endsWith("…") ? JSON.stringify(JSON.parse(shown), null, 2) : shown;
  state.textContent = `${response.status}, ${type.split(";")[0]}, ${Math.round(performance.now() - started)} ms`;
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

function curlOf({ method, path, body }) {
  const parts = [`curl -s ${quoted(location.origin + ROOT + path)}`];
  if (sessionStorage.getItem(TOKEN)) parts.push('-H "Authorization: Bearer $API_TOKEN"');
  if (method !== "GET" && body === undefined) parts.push(`-X ${method}`);
  if (body !== undefined) parts.push("-H 'Content-Type: application/json'", `-d ${quoted(body.replace(/\s*\n\s*/g, " "))}`);
  return parts.join(" \\\n  ");
}

// The document

async function begin() {
  byId("notice").hidden = true;
  try {
    const [api] = await Promise.all([askJson("openapi.json"), loadAbout()]);
    schemas = api.components?.schemas ?? {};
    const groups = new Map();
    for (const [path, operations] of Object.entries(api.paths)) {
      for (const method of METHODS.filter((name) => operations[name])) {
        const operation = operations[method];
        const group = operation.tags?.[0] ?? "other";
        groups.set(group, [...(groups.get(group) ?? []), operationNode(method, path, operation)]);
      }
    }
    byId("operations").replaceChildren(
      ...[...groups].flatMap(([group, nodes]) => [
        element("h2", {}, group === "openai" ? "OpenAI" : readable(group)),
        ...nodes,
      ]),
    );
    openNamed();
  } catch (error) {
    showError(byId("notice"), error, begin);
  }
}

/** Open the endpoint that the URL's fragment names. */
function openNamed() {
  const id = decode(location.hash.slice(1));
  const node = [...document.querySelectorAll(".operation")].find((candidate) => candidate.dataset.id === id);
  if (!node) return;
  node.open = true;
  node.scrollIntoView();
}

begin();
