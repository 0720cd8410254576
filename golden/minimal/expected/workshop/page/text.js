"use strict";

// Renders documents and answers: elements for Markdown blocks.

const KINDS = {
  tip: ["tip", "hint", "check", "success", "done"],
  warning: ["warning", "caution", "attention", "question", "help", "faq", "todo", "deprecated"],
  danger: ["danger", "error", "bug", "failure", "fail", "missing"],
  note: ["note", "info", "important", "abstract", "summary", "tldr", "example", "quote", "cite", "see also", "seealso"],
};
const KIND_OF = new Map(Object.entries(KINDS).flatMap(([kind, words]) => words.map((word) => [word, kind])));
const LABEL = /^(\p{Lu}[\p{L} ]{1,30}):(?=\s|$)[ \t]*/u;
const MAX_TITLE = 60;

// Longer text is not parsed, since parsing time is superlinear.
const MAX_TEXT = 100_000;

const cells = (line) =>
  line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));

let tables = 0;

function tableNode(head, rows, aligned, made) {
  const columns = head === null ? undefined : cells(head).length;
  const row = (line, name) =>
    element("tr", {}, ...cells(line).slice(0, columns).map((cell, place) => {
      const node = element(name, {}, ...inlineNodes(cell, made));
      if (aligned[place]) node.style.textAlign = aligned[place];
      return node;
    }));
  const table = element(
    "table", {},
    head === null ? null : element("thead", {}, row(head, "th")),
    element("tbody", {}, ...rows.map((line) => row(line, "td"))),
  );
  return element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `Table ${(tables += 1)}` }, table);
}

const alignmentOf = (cell) =>
  cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : null;

// Languages of diagrams that other sites can render.
const DRAWINGS = new Set(["mermaid", "plantuml", "graphviz", "dot"]);

// Instructions to VitePress and Shiki, which their sites do not show.
const INSTRUCTION = /[ \t]*(?:\/\/|\/\*|<!--|#|--)[ \t]*\[!code [^\]\n]*\][ \t]*(?:\*\/|-->)?$/gm;

/** Code with a copy button, and a title, such as the name of its file. */
function codeNode(written, language = "", title = null) {
  const text = written.replace(/^(?:[ \t]*\n)+/, "").replace(INSTRUCTION, "");
  const copy = copyButton(["Copy"], () => text, { class: "copy" });
  const nodes = window.coloredNodes?.(text, language) ?? [text];
  const label = title ?? (DRAWINGS.has(language.toLowerCase()) ? `Source of a diagram (${readable(language)})` : null);
  return element(
    "div", { class: "code-block" },
    label ? element("p", { class: "code-title" }, label) : null,
    element("pre", { tabindex: "0" }, element("code", {}, ...nodes)),
    copy,
  );
}

/** Verbatim text, highlighted if it has a language. */
const wholeNode = (text, language = "") =>
  element("pre", { class: "whole" }, ...(window.coloredNodes?.(text, language) ?? [text]));

/** A block quote or callout; a label such as `Note:`, or a bold one, is styled as a label. */
function quoteNode(nodes) {
  const [first, ...rest] = nodes;
  // The label of a labelled paragraph applies to the whole quote.
  if (first?.isLabelled) {
    first.append(...rest);
    return first;
  }
  const begin = first?.tagName === "P" ? first.firstChild : null;
  const said = begin?.tagName === "STRONG" ? begin.textContent : "";
  const bold = said.replace(/:$/, "");
  if (bold && (first.childNodes.length === 1 || bold !== said || KIND_OF.has(bold.toLowerCase()))) {
    begin.remove();
    first.normalize();
    if (first.firstChild?.data) first.firstChild.data = first.firstChild.data.trimStart();
    return calloutNode(bold, inlineNodes(bold), first.childNodes.length ? nodes : rest);
  }
  const [written, label] = begin?.data?.match(LABEL) ?? [];
  if (!label) return element("blockquote", {}, ...nodes);
  begin.data = begin.data.slice(written.length);
  const { range, isAlone } = firstLine(first);
  const line = String(range);
  const isTitle = (isAlone || rest.length > 0) && line.length <= MAX_TITLE && /[^\s.:;,]$/.test(line);
  const title = isTitle && KIND_OF.has(label.toLowerCase()) ? [range.extractContents()] : [label];
  if (first.firstChild?.data) first.firstChild.data = first.firstChild.data.trimStart();
  return calloutNode(label, title, first.textContent || first.children.length ? nodes : rest);
}

/** The first line of a paragraph, and whether others follow. */
function firstLine(paragraph) {
  const range = document.createRange();
  range.selectNodeContents(paragraph);
  const last = [...paragraph.childNodes].find((node) => node.data?.includes("\n"));
  if (last) range.setEnd(last, last.data.indexOf("\n"));
  return { range, isAlone: Boolean(last) };
}

function calloutNode(label, title, below) {
  const kind = KIND_OF.get(label.toLowerCase()) ?? null;
  const head = element("p", { class: "callout-title" }, element("strong", {}, ...title));
  return element("blockquote", { class: "callout", "data-kind": kind }, head, ...below);
}

const LETTERED = /^(\s*)(\(?(?:[a-z]|[ivxlcdm]{2,6}|[A-Z]|[IVXLCDM]{2,6})[.)])(\s+)(\S.*)$/;
const ROMAN = { i: 1, v: 5, x: 10, l: 50, c: 100, d: 500, m: 1000 };

/** The number of a lettered item, and how its list is numbered: `b)`, `(iv)`, `C.`. */
function letteredItem(sign, follows = "") {
  const letters = sign.replace(/[().]/g, "");
  const small = letters.toLowerCase();
  const isUpper = letters !== small;
  const isRoman = follows ? /^[iI]$/.test(follows) : small.length > 1 || small === "i";
  const figures = [...small].map((letter) => ROMAN[letter] ?? 0);
  const roman = figures.reduce((sum, value, place) => sum + (value < (figures[place + 1] ?? 0) ? -value : value), 0);
  const type = isRoman ? "i" : "a";
  return { type: isUpper ? type.toUpperCase() : type, start: isRoman ? roman : small.codePointAt(0) - 96 };
}

/** Whether a lettered list begins in a line: the next item follows. */
function startsLetteredList(lines, at) {
  const [, space, sign] = lines[at].match(LETTERED) ?? [];
  if (!sign) return false;
  const { type, start } = letteredItem(sign);
  return lines.slice(at + 1, at + 40).some((line) => {
    const [, indent, own] = line.match(LETTERED) ?? [];
    return own?.at(-1) === sign.at(-1) && indent.length === space.length && letteredItem(own, type).start === start + 1;
  });
}

/** Markdown as block elements; headings are lowered by `below` levels to fit the page. */
function markdownNodes(text, made = {}, below = 2) {
  if (text.length > MAX_TEXT) return [wholeNode(text)];
  return new Blocks(made, below).read(text.replaceAll("\r\n", "\n").split("\n"), 0, true);
}
