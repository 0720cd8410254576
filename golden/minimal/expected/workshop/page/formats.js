"use strict";

// Display names of the formats that documents are read from.

const OFFICE = "application/vnd.openxmlformats-officedocument";
const OPEN_DOCUMENT = "application/vnd.oasis.opendocument";
const FORMATS = {
  "application/atom+xml": "Feed",
  "application/dita+xml": "DITA",
  "application/docbook+xml": "DocBook",
  "application/epub+zip": "E-book",
  "application/jats+xml": "Article (JATS)",
  "application/json": "JSON",
  "application/mbox": "Mailbox",
  "application/pdf": "PDF",
  "application/rss+xml": "Feed",
  "application/rtf": "Rich text",
  "application/toml": "TOML",
  "application/vnd.ms-excel": "Excel",
  "application/vnd.ms-excel.sheet.binary.macroenabled.12": "Excel",
  "application/vnd.ms-outlook": "Mail",
  "application/x-fictionbook+xml": "E-book",
  "application/x-ipynb+json": "Notebook",
  "application/x-subrip": "Subtitles",
  "application/xml": "XML",
  "application/yaml": "YAML",
  "message/rfc822": "Mail",
  "multipart/related": "Saved page",
  "text/asciidoc": "AsciiDoc",
  "text/calendar": "Calendar",
  "text/csv": "CSV",
  "text/html": "HTML",
  "text/markdown": "Markdown",
  "text/org": "Org",
  "text/plain": "Text",
  "text/tab-separated-values": "Table (TSV)",
  "text/troff": "Manual page",
  "text/vtt": "Subtitles",
  "text/x-c": "C",
  "text/x-cmake": "CMake",
  "text/x-cpp": "C++",
  "text/x-csharp": "C#",
  "text/x-css": "CSS",
  "text/x-fsharp": "F#",
  "text/x-graphql": "GraphQL",
  "text/x-hcl": "HCL",
  "text/x-ini": "Configuration",
  "text/x-java-properties": "Properties",
  "text/x-javascript": "JavaScript",
  "text/x-json": "JSON",
  "text/x-make": "Makefile",
  "text/x-matlab": "MATLAB",
  "text/x-objective-c": "Objective-C",
  "text/x-ocaml": "OCaml",
  "text/x-opml": "Outline (OPML)",
  "text/x-php": "PHP",
  "text/x-powershell": "PowerShell",
  "text/x-rst": "reStructuredText",
  "text/x-sbv": "Subtitles",
  "text/x-sql": "SQL",
  "text/x-tex": "LaTeX",
  "text/x-typescript": "TypeScript",
  "text/x-vb": "Visual Basic",
  "text/x-vhdl": "VHDL",
  "text/x-wiki": "Wiki page",
  "text/x-xml": "XML",
  [`${OFFICE}.presentationml.presentation`]: "PowerPoint",
  [`${OFFICE}.spreadsheetml.sheet`]: "Excel",
  [`${OFFICE}.wordprocessingml.document`]: "Word",
};

/** The display name of a format; for a programming language, it comes from the media type. */
function nameOfMediaType(type) {
  if (Object.hasOwn(FORMATS, type)) return FORMATS[type];
  const kind = type.startsWith(`${OPEN_DOCUMENT}.`) && type.slice(OPEN_DOCUMENT.length + 1).split("-")[0];
  return kind ? `OpenDocument ${kind}` : readable(type.replace(/^[^/]*\/(?:x-|vnd\.)?/, ""));
}
