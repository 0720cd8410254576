"use strict";

// Converts TeX formulas to MathML, which browsers render. A formula with an unknown command is not converted at all,
// since an incomplete formula would be wrong.

const MATHML = "http://www.w3.org/1998/Math/MathML";
const MAX_FORMULA = 4_000;

function mathElement(name, attributes, ...children) {
  const node = document.createElementNS(MATHML, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

const rowNode = (nodes) => (nodes.length === 1 ? nodes[0] : mathElement("mrow", {}, ...nodes));
const operator = (text, attributes = {}) => mathElement("mo", attributes, text);
const fence = (text) => operator(text, { fence: "true", stretchy: "true" });

/** A letter or digit in another font. */
function inFont(character, font) {
  const [upper, lower, figures, exceptions] = ALPHABETS[font] ?? [];
  if (!upper) return character;
  const from = (base, first) => String.fromCodePoint(base + character.codePointAt(0) - first.codePointAt(0));
  if (exceptions[character]) return exceptions[character];
  if (/[A-Z]/.test(character)) return from(upper, "A");
  if (/[a-z]/.test(character)) return from(lower, "a");
  return /\d/.test(character) && figures ? from(figures, "0") : character;
}

/** Parses a formula: commands, groups, characters; spaces matter only in text. */
class Formula {
  constructor(source, isBlock) {
    this.tokens = source.replace(/(?<!\\)%.*$/gm, "").match(/\\[a-zA-Z]+\*?|\\[\s\S]|\d+(?:[.,]\d+)*|\s+|[\s\S]/gu) ?? [];
    this.at = 0;
    this.isBlock = isBlock;
  }

  peek() {
    while (this.at < this.tokens.length && !this.tokens[this.at].trim()) this.at += 1;
    return this.tokens[this.at];
  }

  take(wanted) {
    const token = this.peek();
    if (token === undefined || (wanted && token !== wanted)) throw new Error(`no ${wanted ?? "more"}`);
    this.at += 1;
    return token;
  }

  /** The nodes up to one of the `ends` tokens, which is not consumed. */
  nodes(ends, font = null) {
    const found = [];
    while (this.peek() !== undefined && !ends.includes(this.peek())) {
      if (this.peek() === "\\over") {
        this.take();
        return [mathElement("mfrac", {}, rowNode(found), rowNode(this.nodes(ends, font)))];
      }
      const node = this.scripted(font);
      if (node) found.push(node);
    }
    return found;
  }

  /** A node with its superscript and subscript. */
  scripted(font) {
    const token = this.peek();
    const isEmpty = token === "^" || token === "_";
    const base = isEmpty ? mathElement("mrow", {}) : this.atom(font);
    const scripts = {};
    let primes = "";
    while (base && ["^", "_", "'", "\\limits", "\\nolimits"].includes(this.peek())) {
      const sign = this.take();
      if (sign === "'") primes += "′";
      else if (sign.length === 1) scripts[sign] = this.argument(font);
    }
    if (primes) {
      const above = operator(primes);
      scripts["^"] = scripts["^"] ? rowNode([above, scripts["^"]]) : above;
    }
    const { "^": above, _: below } = scripts;
    if (!above && !below) return base;
    const name = base.isUnder && (this.isBlock || !base.isLarge) ? ["munder", "mover", "munderover"] : ["msub", "msup", "msubsup"];
    if (above && below) return mathElement(name[2], {}, base, below, above);
    return above ? mathElement(name[1], {}, base, above) : mathElement(name[0], {}, base, below);
  }

  /** The argument of a command: a group or the next atom. */
  argument(font = null) {
    if (this.peek() !== "{") {
      const token = this.peek();
      // In `x^12`, only the first digit is superscript.
      if (/^\d\d/.test(token ?? "")) {
        this.tokens.splice(this.at, 1, token[0], token.slice(1));
      }
      return this.atom(font) ?? mathElement("mrow", {});
    }
    this.take("{");
    const node = rowNode(this.nodes(["}"], font));
    this.take("}");
    return node;
  }

  /** The source of a group. */
  text() {
    this.take("{");
    let [depth, written] = [1, ""];
    for (; this.at < this.tokens.length; this.at += 1) {
      const token = this.tokens[this.at];
      if (token === "{") depth += 1;
      if (token === "}") depth -= 1;
      if (depth === 0) break;
      written += token;
    }
    this.take("}");
    return written;
  }

  atom(font) {
    const token = this.take();
    if (token[0] === "\\") return this.command(token.slice(1), font);
    if (token === "{") {
      this.at -= 1;
      return this.argument(font);
    }
    if (token === "}" || token === "&") throw new Error(`unexpected ${token}`);
    if (/^\d/.test(token)) return mathElement("mn", {}, [...token].map((figure) => inFont(figure, font)).join(""));
    if (token === "~") return mathElement("mspace", { width: "0.33em" });
    if (/\p{L}/u.test(token)) return mathElement("mi", font === "normal" ? { mathvariant: "normal" } : {}, inFont(token, font));
    return operator({ "-": "−", "*": "∗" }[token] ?? token, "()[]|".includes(token) ? { stretchy: "false" } : {});
  }

  command(name, font) {
    if (Object.hasOwn(LETTERS, name)) return mathElement("mi", {}, LETTERS[name]);
    if (Object.hasOwn(LARGE, name)) {
      const node = operator(LARGE[name], { largeop: "true", movablelimits: "true" });
      return Object.assign(node, { isUnder: !name.endsWith("int"), isLarge: true });
    }
    if (Object.hasOwn(OPERATORS, name)) return operator(OPERATORS[name], /[⟨⟩⌈⌉⌊⌋|‖{}]/u.test(OPERATORS[name]) ? { stretchy: "false" } : {});
    if (NAMES.has(name)) return Object.assign(mathElement("mi", {}, name), { isUnder: UNDER.has(name) });
    if (Object.hasOwn(SPACES, name)) return mathElement("mspace", { width: `${SPACES[name]}em` });
    if (/^\s$/.test(name)) return mathElement("mspace", { width: "0.33em" });
    if (Object.hasOwn(FONTS, name)) return this.argument(FONTS[name]);
    if ("%$#&_".includes(name)) return operator(name);
    if (IGNORED.has(name)) return null;
    if (TEXTS.has(name)) {
      const written = this.text().replaceAll("\\_", "_").replace(/^ | $/g, "\u00a0");
      return Object.assign(mathElement(name.startsWith("operator") ? "mi" : "mtext", {}, written), { isUnder: name.endsWith("*") });
    }
    if (Object.hasOwn(ACCENTS, name)) {
      const node = mathElement("mover", { accent: "true" }, this.argument(font), operator(ACCENTS[name]));
      return Object.assign(node, { isUnder: name === "overbrace" });
    }
    if (Object.hasOwn(BELOW, name)) {
      return Object.assign(mathElement("munder", {}, this.argument(font), operator(BELOW[name])), { isUnder: true });
    }
    return this.structure(name, font);
  }

  structure(name, font) {
    const two = () => [this.argument(font), this.argument(font)];
    if (/^[dtc]?frac$/.test(name)) return mathElement("mfrac", {}, ...two());
    if (/^[dt]?binom$/.test(name)) {
      const inner = mathElement("mfrac", { linethickness: "0" }, ...two());
      return mathElement("mrow", {}, operator("("), inner, operator(")"));
    }
    if (name === "sqrt") {
      if (this.peek() !== "[") return mathElement("msqrt", {}, this.argument(font));
      this.take("[");
      const index = rowNode(this.nodes(["]"], font));
      this.take("]");
      return mathElement("mroot", {}, this.argument(font), index);
    }
    if (name === "overset" || name === "stackrel") {
      const [above, base] = two();
      return mathElement("mover", {}, base, above);
    }
    if (name === "underset") {
      const [below, base] = two();
      return mathElement("munder", {}, base, below);
    }
    if (name === "not") return operator(`${this.argument(font).textContent}\u0338`);
    if (name === "pmod") return mathElement("mrow", {}, operator("("), mathElement("mtext", {}, "mod\u00a0"), this.argument(font), operator(")"));
    if (name === "bmod" || name === "mod") return mathElement("mtext", {}, "\u00a0mod\u00a0");
    if (name === "boxed") return this.argument(font);
    if (name === "tag") return mathElement("mtext", {}, `\u2003(${this.text()})`);
    if (name === "label") return this.text() && null;
    if (name === "left") return this.fenced(font);
    if (name === "begin") return this.table(font);
    throw new Error(`unknown: ${name}`);
  }

  delimiter() {
    const token = this.take();
    if (token === ".") return "";
    const known = token[0] === "\\" ? OPERATORS[token.slice(1)] : token;
    if (known === undefined) throw new Error(`unknown: ${token}`);
    return known;
  }

  fenced(font) {
    const nodes = [fence(this.delimiter())];
    while (this.peek() !== "\\right") {
      nodes.push(...this.nodes(["\\right", "\\middle"], font));
      if (this.peek() === "\\middle") nodes.push((this.take(), fence(this.delimiter())));
      else if (this.peek() === undefined) throw new Error("no right");
    }
    this.take("\\right");
    return mathElement("mrow", {}, ...nodes, fence(this.delimiter()));
  }

  table(font) {
    const name = this.text();
    if (!Object.hasOwn(TABLES, name)) throw new Error(`unknown: ${name}`);
    if (name === "array") this.text();
    const rows = [[]];
    const ends = ["&", "\\\\", "\\end"];
    for (;;) {
      rows.at(-1).push(mathElement("mtd", {}, ...this.nodes(ends, font)));
      const token = this.take();
      if (token === "\\end") break;
      if (token === "\\\\") rows.push([]);
    }
    if (this.text() !== name) throw new Error("no end");
    if (rows.length > 1 && rows.at(-1).every((cell) => !cell.childNodes.length)) rows.pop();
    const kind = LEFT.has(name) ? "aligned" : name === "cases" ? "cases" : "";
    const table = mathElement("mtable", { class: kind }, ...rows.map((row) => mathElement("mtr", {}, ...row)));
    const [open, close] = [...TABLES[name]];
    if (!open) return table;
    return mathElement("mrow", {}, fence(open), table, ...(close ? [fence(close)] : []));
  }

  /** The lines of a formula outside a table. */
  whole() {
    const rows = [];
    do rows.push(this.nodes(["\\\\", "&"]));
    while (this.peek() !== undefined && this.take());
    if (rows.length === 1) return rows[0];
    return [mathElement("mtable", { class: "aligned" }, ...rows.map((row) => mathElement("mtr", {}, mathElement("mtd", {}, ...row))))];
  }
}

/** A formula as MathML, with its source as a label for screen readers; null if it cannot be converted. */
function mathNode(source, isBlock) {
  if (source.length > MAX_FORMULA) return null;
  try {
    const nodes = new Formula(source, isBlock).whole();
    const semantics = mathElement(
      "semantics", {},
      mathElement("mrow", {}, ...nodes),
      mathElement("annotation", { encoding: "application/x-tex" }, source.trim()),
    );
    return mathElement("math", isBlock ? { display: "block" } : {}, semantics);
  } catch {
    return null;
  }
}
