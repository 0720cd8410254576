"use strict";

// Parses Markdown blocks, nested up to MAX_DEPTH levels.

// A fence may have any indent, because readers remove the list items and tabs around code.
const FENCE = /^(\s*)(`{3,}|~{3,})\s*([\w+#.-]*)/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*)$/;
const SETEXT_RULE = /^ {0,3}(=+|-+)\s*$/;
const RULE = /^ {0,3}([-*_])( *\1){2,}\s*$/;
const LIST_ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(\s+|$)(.*)$/;
const TASK = /^\[([ xX])\]\s+/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const TABLE_ROW = /^\s*\|.*\|\s*$/;
const QUOTE = /^ {0,3}> ?/;
// Readers write tabs and closed blocks as quotations: `> **[Label]**` and `> ▸ **Title**`.
const TAB = /^\*\*\[(.+)\]\*\*$/;
const CLOSED = /^▸ (.+)$/;
const BOLD = /^\*\*(.*)\*\*$/;
const DEFINITION = /^ {0,3}:\s+(?=\S)/;
const NOTE = /^ {0,3}\[\^([^[\]\s]{1,80})\]:\s*/;
const CODE_TITLE = /(?:^|\s)(?:title|filename)=(?:"([^"]+)"|'([^']+)')|\s\[([^\]]+)\]\s*$/;
const CODE_TAB = /^\s*(?:`{3,}|~{3,})\s*[\w+#.-]+.*\s\[[^\]]+\]\s*$/;
// A formula of MyST may have a label.
const FORMULA_END = { "$$": /^(.*)\$\$\s*(?:\([^()\s]+\)\s*)?$/, "\\[": /^(.*)\\\]\s*$/ };
const ENVIRONMENT = /^\s*\\begin\{((?:equation|align|gather|multline|eqnarray)\*?)\}/;

const MAX_DEPTH = 12;

const isBlank = (line) => !line.trim();
const indentOf = (line) => line.match(/^\s*/)[0].length;
const dedented = (lines, most) =>
  lines.map((line) => line.slice(Math.min(indentOf(line), most)));

/** The code fence that a text leaves open, given the one it begins `within` ("" for none). */
function openFence(text, within = "") {
  let open = within;
  for (const line of text.split("\n")) {
    const [, , fence] = line.match(FENCE) ?? [];
    if (!open) open = fence ? line.trimEnd() : "";
    else if (closesFence(open, line)) open = "";
  }
  return open;
}

/** Whether a line ends code; lines with a larger indent belong to the code. */
const closesFence = (open, line) => {
  const [, space, fence] = open.match(FENCE);
  return indentOf(line) < space.length + 4 && line.trim().startsWith(fence) && !line.replaceAll(fence[0], "").trim();
};

/** Lines that begin within a list item, with the item's further lines dedented like the first one. */
function restOfItem(lines, from) {
  let end = from;
  while (end < lines.length && (isBlank(lines[end]) || indentOf(lines[end]))) end += 1;
  const item = lines.slice(from, end);
  const margin = Math.min(...item.filter((line) => !isBlank(line)).map(indentOf));
  return [...lines.slice(0, from), ...dedented(item, margin), ...lines.slice(end)];
}

/** A block parser: each method consumes one kind of block and returns the line after it. */
class Blocks {
  constructor(made, below) {
    Object.assign(this, { made, below, isTabAbove: false });
  }

  /** The blocks in lines. A text may begin inside a list item, whose further lines are then indented. */
  read(lines, depth, isBeginning = false) {
    if (depth > MAX_DEPTH) return [wholeNode(lines.join("\n"))];
    const nodes = [];
    let at = 0;
    if (isBeginning) {
      const first = lines.findIndex((line) => !isBlank(line));
      // Only code keeps the indent of its first line.
      const from = first + (indentOf(lines[first] ?? "") ? 0 : 1);
      if (this.made.isInList && !LIST_ITEM.test(lines[first])) lines = restOfItem(lines, from);
    }
    let paragraph = [];
    const flush = () => {
      if (paragraph.length) nodes.push(this.paragraph(paragraph));
      paragraph = [];
    };
    while (at < lines.length) {
      const line = lines[at];
      const found = isBlank(line) ? null : this.block(lines, at, depth, paragraph);
      if (found) {
        const { end, node, tookParagraph } = found;
        if (tookParagraph) paragraph = [];
        flush();
        for (const each of [node].flat()) {
          const isNext = isTabs(each) && isTabs(nodes.at(-1));
          if (!(isNext && joinTabs(nodes.at(-1), each))) nodes.push(each);
        }
        at = end;
        continue;
      }
      // A blank line may stand between a term and its definition.
      if (isBlank(line) && !DEFINITION.test(lines[at + 1] ?? "")) flush();
      // Two spaces at the end of a line are a line break.
      else if (!isBlank(line)) paragraph.push(line.trimStart());
      at += 1;
    }
    flush();
    return nodes;
  }

  paragraph(lines) {
    // Readers do not quote the content of a tab or closed block that has headings: they only mark its title.
    const [, loose] = (lines.length === 1 && (lines[0].match(TAB) ?? lines[0].match(CLOSED))) || [];
    if (loose) return element("p", { class: "tab-title" }, ...inlineNodes(loose.replace(BOLD, "$1"), this.made));
    const node = element("p", {}, ...inlineNodes(lines.join("\n").trimEnd(), this.made));
    const [, label] = lines[0].match(LABEL) ?? [];
    const isAlone = label && lines[0].trim() === `${label}:`;
    if (!(lines.length > 1 && isAlone && KIND_OF.has(label.toLowerCase()))) return node;
    return Object.assign(quoteNode([node]), { isLabelled: true });
  }

  /** The block that begins in a line; null for text. */
  block(lines, at, depth, paragraph) {
    const line = lines[at];
    const take = (from, test) => {
      let end = from;
      while (end < lines.length && test(lines[end], end)) end += 1;
      return end;
    };
    const [, space, fence, language] = line.match(FENCE) ?? [];
    if (fence) {
      const end = take(at + 1, (other) => !closesFence(line, other));
      const code = dedented(lines.slice(at + 1, end), space.length).join("\n");
      const title = line.slice(space.length + fence.length).match(CODE_TITLE)?.slice(1).find(Boolean);
      if (language === "math") return { end: end + 1, node: this.formula(code) };
      const next = lines.slice(end + 1).find((other) => !isBlank(other)) ?? "";
      // VitePress writes tabs as successive code with labels.
      const isTab = CODE_TAB.test(line) && (CODE_TAB.test(next) || this.isTabAbove);
      this.isTabAbove = isTab && CODE_TAB.test(next);
      return { end: end + 1, node: isTab ? tabNode(title, [codeNode(code, language)], this.made) : codeNode(code, language, title) };
    }
    if (!paragraph.length && startsLetteredList(lines, at)) return this.list(lines, at, depth, LETTERED);
    if (!paragraph.length && indentOf(line) >= 4 && !LIST_ITEM.test(line)) {
      let end = take(at, (other) => isBlank(other) || indentOf(other) >= 4);
      while (isBlank(lines[end - 1])) end -= 1;
      return { end, node: codeNode(dedented(lines.slice(at, end), 4).join("\n")) };
    }
    const heading = line.match(HEADING);
    if (heading) return { end: at + 1, node: this.heading(heading[1].length, heading[2].replace(/ #+ *$/, "")) };
    if (paragraph.length && SETEXT_RULE.test(line)) {
      const node = this.heading(line.includes("=") ? 1 : 2, paragraph.join("\n"));
      return { end: at + 1, node, tookParagraph: true };
    }
    if (RULE.test(line)) return { end: at + 1, node: element("hr") };
    if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "") && lines[at + 1].includes("-")) {
      const end = Math.max(at + 2, take(at, (other) => other.includes("|")));
      return { end, node: tableNode(line, lines.slice(at + 2, end), cells(lines[at + 1]).map(alignmentOf), this.made) };
    }
    // The rest of a table that was split across passages.
    if (at === 0 && TABLE_ROW.test(line) && TABLE_ROW.test(lines[1] ?? "")) {
      const end = take(at, (other) => TABLE_ROW.test(other));
      return { end, node: tableNode(null, lines.slice(at, end), [], this.made) };
    }
    if (LIST_ITEM.test(line) && !(paragraph.length && /^\s*(?:\d+[.)]|[-*+]\s*$)/.test(line) && !/^\s*1[.)]/.test(line))) {
      return this.list(lines, at, depth);
    }
    if (QUOTE.test(line)) {
      const end = take(at, (other) => QUOTE.test(other));
      const quoted = lines.slice(at, end).map((other) => other.replace(QUOTE, ""));
      return { end, node: this.quote(quoted, depth) };
    }
    const note = line.match(NOTE);
    if (note && this.made.noteText) {
      const end = this.endOfItem(lines, at + 1, 2);
      const body = this.read([line.slice(note[0].length), ...dedented(lines.slice(at + 1, end), 4)], depth + 1);
      return { end, node: this.made.noteText(note[1], body) };
    }
    if (paragraph.length && DEFINITION.test(line)) return this.definition(lines, at, depth, paragraph);
    const [, environment] = line.match(ENVIRONMENT) ?? [];
    if (environment) return this.environment(lines, at, environment);
    const [, opening] = line.match(/^\s*(\$\$|\\\[)/) ?? [];
    return opening ? this.display(lines, at, opening) : null;
  }

  /** A quotation, callout, closed block or tabs; several may follow one another without a blank line. */
  quote(lines, depth) {
    const begin = Math.max(0, lines.findIndex((line) => !isBlank(line)));
    if (lines[begin].match(TAB)) {
      const starts = lines.flatMap((line, place) => (TAB.test(line) ? [place] : []));
      return starts.map((start, place) => {
        const body = lines.slice(start + 1, starts[place + 1]);
        return tabNode(lines[start].match(TAB)[1], this.read(body, depth + 1), this.made);
      });
    }
    const [, title] = lines[begin].match(CLOSED) ?? [];
    return title
      ? closedNode(title, this.read(lines.slice(begin + 1), depth + 1), this.made)
      : quoteNode(this.read(lines, depth + 1));
  }

  heading(level, text) {
    const name = `h${Math.min(6, Math.max(2, level + this.below))}`;
    return element(name, {}, ...inlineNodes(text.trim(), this.made));
  }

  formula = (source) => element("div", { class: "formula", tabindex: "0" }, formulaNode(source, true));

  /** A formula between `\begin` and `\end`, as MathJax finds it in text. */
  environment(lines, at, name) {
    const end = lines.findIndex((line, place) => place >= at && line.includes(`\\end{${name}}`));
    if (end < 0) return null;
    return { end: end + 1, node: this.formula(lines.slice(at, end + 1).join("\n")) };
  }

  /** A display formula. */
  display(lines, at, opening) {
    const first = lines[at].trim().slice(2);
    const closing = FORMULA_END[opening];
    let end = at;
    while (end < lines.length && !closing.test(end === at ? first : lines[end])) end += 1;
    if (end === lines.length) return null;
    const within = [first, ...lines.slice(at + 1, end + 1)].join("\n");
    const source = within.match(new RegExp(closing.source, "s"))[1];
    // Escaped brackets, such as `\[14\]`, are not a formula.
    if (opening === "\\[" && /^\s*[\w\s]*$/.test(source)) return null;
    return { end: end + 1, node: this.formula(source) };
  }

  /** The line after a list item whose text is indented by `width`. */
  endOfItem(lines, from, width, pattern = LIST_ITEM) {
    let end = from;
    while (end < lines.length) {
      const line = lines[end];
      if (!isBlank(line) && indentOf(line) < width) {
        const goesOn = !isBlank(lines[end - 1]) && !pattern.test(line) && !LIST_ITEM.test(line) && !this.interrupts(line);
        if (!goesOn) break;
      }
      end += 1;
    }
    while (end > from && isBlank(lines[end - 1])) end -= 1;
    return end;
  }

  interrupts = (line) =>
    [FENCE, HEADING, RULE, QUOTE, NOTE, DEFINITION].some((pattern) => pattern.test(line));

  /** A list; lines with a larger indent belong to the item above. */
  list(lines, at, depth, pattern = LIST_ITEM) {
    const [, space, sign] = lines[at].match(pattern);
    const isOrdered = /\w/.test(sign);
    const kind = isOrdered ? sign.at(-1) : sign;
    const { type, start } =
      pattern === LETTERED ? letteredItem(sign) : { type: null, start: isOrdered ? parseInt(sign, 10) : 1 };
    const list = element(isOrdered ? "ol" : "ul", { type, start: start === 1 ? null : start });
    let end = at;
    while (end < lines.length) {
      const [, indent, own, gap, rest] = lines[end].match(pattern) ?? [];
      const isSame = own && (/\w/.test(own) ? own.at(-1) : own) === kind && indent.length <= space.length + 1;
      if (!isSame || RULE.test(lines[end])) break;
      const width = indent.length + 1;
      const close = this.endOfItem(lines, end + 1, width, pattern);
      const further = lines.slice(end + 1, close);
      const first = further.find((line) => !isBlank(line));
      const inner = first === undefined ? 0 : Math.min(indentOf(first), indent.length + own.length + Math.min(gap.length, 4));
      list.append(this.item([rest, ...dedented(further, inner || width)], depth));
      end = close;
      // Blank lines between items belong to the list.
      let next = end;
      while (next < lines.length && isBlank(lines[next])) next += 1;
      if (next < lines.length && pattern.test(lines[next])) end = next;
    }
    return { end, node: list };
  }

  item(lines, depth) {
    const [, mark] = lines[0].match(TASK) ?? [];
    const isDone = mark?.toLowerCase() === "x";
    if (mark) lines[0] = lines[0].replace(TASK, "");
    const nodes = this.read(lines, depth + 1);
    // The item's text is on the same line as its marker.
    const [first, ...rest] = nodes;
    const isPlain = first?.tagName === "P" && !rest.some((node) => node.tagName === "P");
    const body = isPlain ? [...first.childNodes, ...rest] : nodes;
    if (!mark) return element("li", {}, ...body);
    const box = element("input", { type: "checkbox", disabled: true, checked: isDone, "aria-label": isDone ? "Done" : "To do" });
    return element("li", { class: "task" }, box, " ", ...body);
  }

  /** The definitions of the terms in a paragraph. */
  definition(lines, at, depth, paragraph) {
    const list = element("dl", {}, ...paragraph.map((term) => element("dt", {}, ...inlineNodes(term.trim(), this.made))));
    let end = at;
    while (end < lines.length && DEFINITION.test(lines[end])) {
      const begin = end;
      end = this.endOfItem(lines, begin + 1, 2);
      const own = [lines[begin].replace(DEFINITION, ""), ...dedented(lines.slice(begin + 1, end), 4)];
      const nodes = this.read(own, depth + 1);
      const body = nodes.length === 1 && nodes[0].tagName === "P" ? [...nodes[0].childNodes] : nodes;
      list.append(element("dd", {}, ...body));
      if (isBlank(lines[end] ?? "x") && DEFINITION.test(lines[end + 1] ?? "")) end += 1;
    }
    return { end, node: list, tookParagraph: true };
  }
}
