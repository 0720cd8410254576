"use strict";

// Syntax highlighting: comments, strings, numbers and keywords.

const MAX_COLORED = 50_000;

const HASH = /#[^\n]*/;
const SLASHES = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/;
const DASHES = /--[^\n]*/;
const TEXT = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/;
const TRIPLE = /"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)/;
const BACKTICKS = /`(?:\\[\s\S]|[^`\\])*`/;
const TAGS = /<!--[\s\S]*?(?:-->|$)/;

const WORDS = {
  c: `auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false
    float for friend goto if inline int long mutable namespace new nullptr operator override private protected public return
    short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void
    volatile while include define ifdef ifndef endif pragma`,
  go: `break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package
    range return select string struct switch true type var int bool error byte`,
  java: `abstract async await base boolean break byte case catch char class const continue default do double else enum extends
    false final finally float for foreach fun get if implements import in instanceof int interface internal is long namespace
    new null object out override package private protected public readonly record return sealed set short static string struct
    super switch synchronized this throw throws true try typeof using val var virtual void volatile when while yield`,
  js: `any as async await boolean break case catch class const continue debugger declare default delete do else enum export
    extends false finally for from function get if implements import in instanceof interface keyof let namespace never new null
    number of private protected public readonly return set static string super switch this throw true try type typeof
    undefined unknown var void while yield`,
  python: `and as assert async await break case class continue def del elif else except False finally for from global if import
    in is lambda match None nonlocal not or pass raise return self True try while with yield`,
  rust: `as async await bool break const continue crate dyn else enum extern false fn for i32 i64 if impl in let loop match mod
    move mut pub ref return Self self static str struct super trait true type u32 u64 u8 unsafe use usize where while`,
  shell: `alias break case cd continue declare do done echo elif else esac exec exit export fi for function if in local
    read return select set shift source sudo then unset until while`,
  sql: `add all alter and as asc begin between by case commit constraint create delete desc distinct drop else end exists from
    group having if in index inner insert into is join key left like limit not null on or order outer primary references
    replace right select set table then union unique update values view when where with`,
  ruby: `alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or puts
    raise redo require rescue retry return self super then true undef unless until when while yield`,
  data: "true false null yes no on off",
  none: "",
};
const FAMILIES = [
  ["python py python3 ipython ipython3 pycon gdscript", [TRIPLE, HASH, TEXT], "python"],
  ["bash sh shell zsh console shell-session powershell ps1 fish dockerfile docker makefile make", [HASH, TEXT], "shell"],
  ["ruby rb perl r elixir crystal julia jl", [HASH, TEXT], "ruby"],
  ["js jsx javascript mjs ts tsx typescript vue svelte", [SLASHES, TEXT, BACKTICKS], "js"],
  ["c h cpp c++ cc hpp cuda objective-c glsl arduino", [SLASHES, TEXT], "c"],
  ["java kotlin kt scala csharp cs c# swift dart groovy php", [SLASHES, TEXT], "java"],
  ["go golang", [SLASHES, TEXT, BACKTICKS], "go"],
  ["rust rs zig", [SLASHES, /"(?:\\.|[^"\\])*"/], "rust"],
  ["sql postgresql mysql sqlite plsql haskell hs lua", [DASHES, TEXT], "sql"],
  ["json json5 jsonc", [SLASHES, TEXT], "data"],
  ["yaml yml toml ini cfg conf properties hcl terraform nix env dotenv editorconfig", [HASH, TEXT], "data"],
  ["css scss less", [/\/\*[\s\S]*?(?:\*\/|$)/, TEXT], "none"],
  ["html xml svg xhtml jinja", [TAGS, TEXT], "none"],
];
const FAMILY_OF = new Map(
  FAMILIES.flatMap(([names, literals, words]) => names.split(" ").map((name) => [name, { literals, words }])),
);
const patterns = new Map();

/** A pattern for the coloured tokens of a language, with a group for each kind. */
function patternOfFamily({ literals, words }) {
  const known = WORDS[words].trim().split(/\s+/).join("|");
  const [comments, texts] = [[], []];
  for (const literal of literals) ([HASH, SLASHES, DASHES, TAGS].includes(literal) || literal.source.startsWith("\\/\\*") ? comments : texts).push(literal.source);
  const parts = [
    ...literals.includes(TRIPLE) ? [`(?<triple>${TRIPLE.source})`] : [],
    // `$#` and URLs do not start comments.
    ...comments.length ? [`(?<![\\w:$"'])(?<comment>${comments.join("|")})`] : [],
    `(?<text>${texts.filter((source) => source !== TRIPLE.source).join("|") || "(?!)"})`,
    "(?<![\\w.])(?<number>0[xX][\\da-fA-F_]+|\\d[\\d_]*(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)(?![\\w.])",
    ...known ? [`(?<![\\w$.-])(?<word>${known})(?![\\w-])`] : [],
  ];
  return new RegExp(parts.join("|"), words === "sql" ? "gi" : "g");
}

/** The lines of a diff as nodes; added and removed ones are coloured. */
const comparedNodes = (text) =>
  text.split(/(?<=\n)/).map((line) => {
    const kind = { "+": "added", "-": "gone", "@": "comment" }[line[0]];
    return kind ? element("span", { class: `code-${kind}` }, line) : line;
  });

/** Highlighted code as nodes; plain text for an unknown language. */
function coloredNodes(text, language) {
  const name = language.toLowerCase().replace(/^[{.]+/, "");
  if (text.length > MAX_COLORED) return [text];
  if (name === "diff" || name === "patch") return comparedNodes(text);
  const family = FAMILY_OF.get(name);
  if (!family) return [text];
  const pattern = patterns.get(family) ?? patternOfFamily(family);
  patterns.set(family, pattern);
  const nodes = [];
  let position = 0;
  for (const match of text.matchAll(pattern)) {
    const [kind] = Object.entries(match.groups).find(([, found]) => found !== undefined);
    if (match.index > position) nodes.push(text.slice(position, match.index));
    nodes.push(element("span", { class: `code-${kind === "triple" ? "text" : kind}` }, match[0]));
    position = match.index + match[0].length;
  }
  if (position < text.length) nodes.push(text.slice(position));
  return nodes;
}
