"use strict";

// Renders JSON Schemas of an OpenAPI document in words, as fields, and as an example.

let schemas = {};

const MAX_DEPTH = 5;

function resolve(schema) {
  const name = schema?.$ref?.split("/").at(-1);
  return name ? (schemas[name] ?? {}) : (schema ?? {});
}

/** A short description of the values that a schema allows. */
function inWords(schema) {
  const name = schema?.title && schema.properties ? schema.title : null;
  const found = resolve(schema);
  const choices = found.anyOf ?? found.oneOf;
  if (choices) return choices.map(inWords).join(" or ");
  if (found.const !== undefined) return JSON.stringify(found.const);
  if (found.enum) return found.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (found.type === "array") return `list of ${inWords(found.items ?? {})}`;
  const limits = [
    found.minLength !== undefined || found.maxLength !== undefined
      ? `${found.minLength ?? 0} to ${found.maxLength ?? "any number of"} characters` : null,
    found.minimum !== undefined || found.maximum !== undefined
      ? `${found.minimum ?? "any"} to ${found.maximum ?? "any"}` : null,
  ].filter(Boolean);
  const type = name ?? (Array.isArray(found.type) ? found.type.join(" or ") : (found.type ?? "any"));
  return limits.length ? `${type}, ${limits.join(", ")}` : type;
}

/** The fields of an object, with nested objects below them; null if there are none. */
function fieldsNode(schema, depth = 0) {
  const found = resolve(schema);
  const choices = found.anyOf ?? found.oneOf ?? [found];
  const inner = choices.map(resolve).map((choice) => (choice.type === "array" ? resolve(choice.items) : choice));
  const lists = inner.filter((choice) => choice.properties && depth < MAX_DEPTH).map((choice) =>
    element(
      "ul", { class: "fields" },
      ...Object.entries(choice.properties).map(([name, property]) =>
        fieldNode(name, property, choice.required?.includes(name) ?? false, depth),
      ),
    ),
  );
  return lists.length ? element("div", {}, ...lists) : null;
}

function fieldNode(name, schema, isRequired, depth = 0) {
  const found = resolve(schema);
  const fallback = schema.default ?? found.default;
  const notes = [
    inWords(schema),
    isRequired ? "required" : null,
    fallback !== undefined && fallback !== null && !isRequired && String(fallback) ? `default ${JSON.stringify(fallback)}` : null,
  ];
  const description = schema.description ?? found.description;
  return element(
    "li", {},
    element("code", {}, name), " ",
    element("span", { class: "muted" }, notes.filter(Boolean).join(", ")),
    description ? element("p", { class: "muted" }, description) : null,
    fieldsNode(schema, depth + 1),
  );
}

/** An example value: required fields, and fields with a default. */
function exampleOf(schema, depth = 0) {
  const found = resolve(schema);
  if (schema?.default !== undefined) return schema.default;
  if (found.default !== undefined) return found.default;
  if (found.const !== undefined) return found.const;
  if (found.enum) return found.enum[0];
  const choices = found.anyOf ?? found.oneOf;
  if (choices) return exampleOf(choices[0], depth);
  if (found.properties) {
    const wanted = Object.entries(found.properties).filter(
      ([name, property]) =>
        found.required?.includes(name) || (property.default !== undefined && property.default !== null),
    );
    return Object.fromEntries(wanted.map(([name, property]) => [name, exampleOf(property, depth + 1)]));
  }
  if (found.type === "array") return found.minItems && depth < MAX_DEPTH ? [exampleOf(found.items, depth + 1)] : [];
  if (found.type === "integer" || found.type === "number") return found.minimum ?? 0;
  if (found.type === "boolean") return false;
  if (found.type === "object") return {};
  return "your question";
}
