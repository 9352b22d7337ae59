// Small functions on texts and elements. No text of the model becomes markup: `element` sets textContent.

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else if (key.includes("-") || key === "role") made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children);
  return made;
}

const byId = (id) => document.getElementById(id);

const WORDS = "and as assert async await break case class continue def del elif else except finally for from global if " +
  "import in is lambda match nonlocal not or pass raise return try while with yield True False None";
const KEYWORDS = new Set(WORDS.split(" "));
const PYTHON = new RegExp(
  "(?<c>#[^\\n]*)" +
  "|(?<s>[rbfuRBFU]{0,2}(?:\"\"\"[^]*?(?:\"\"\"|$)|'''[^]*?(?:'''|$)|\"(?:\\\\.|[^\"\\\\\\n])*\"?|'(?:\\\\.|[^'\\\\\\n])*'?))" +
  "|(?<n>\\b\\d[\\w.]*)|(?<w>[A-Za-z_]\\w*)", "g");

// The colored parts of each line of Python: [class, first, end].
function pythonTokens(lines) {
  const text = lines.join("\n");
  const starts = [0];
  for (const line of lines) starts.push(starts.at(-1) + line.length + 1);
  const found = lines.map(() => []);
  let line = 0;
  for (const match of text.matchAll(PYTHON)) {
    const { c, s, n, w } = match.groups;
    const kind = c ? "c" : s ? "s" : n ? "n" : KEYWORDS.has(w) ? "k" : null;
    if (!kind) continue;
    let first = match.index;
    const end = first + match[0].length;
    while (first < end) {
      while (starts[line + 1] <= first) line++;
      const stop = Math.min(end, starts[line + 1] - 1);
      if (stop > first) found[line].push([kind, first - starts[line], stop - starts[line]]);
      first = starts[line + 1];
    }
  }
  return found;
}

// The colored parts of a row of a graph: the name of the operation and the types.
function graphTokens(row) {
  const { text, kind, name } = row;
  const parts = [];
  if (kind === "op") {
    const equals = row.defs.length ? text.indexOf(" = ") + 3 : text.search(/\S/);
    parts.push(["o", equals, equals + name.length]);
    const types = ` : ${row.types.join(", ")}`;
    if (row.types.length && text.endsWith(types)) parts.push(["t", text.length - types.length, text.length]);
  } else if (kind !== "text") {
    const first = text.search(/\S/);
    parts.push(["k", first, first + text.slice(first).search(/\s|$/)]);
  }
  return parts;
}

const LLVM = /(?<c>;.*)|(?<s>"[^"]*")|(?<t>[%@!#][\w.$-]+)|(?<o>\b(?:f?add|f?sub|f?mul|[fsu]div|[fsu]rem|call|load|store|br|ret|phi|select|getelementptr|icmp|fcmp|switch)\b)|(?<k>\b(?:define|declare|target)\b|^[\w.$-]+:)/g;

// The colored parts of a line of LLVM's code.
function nativeTokens(text) {
  const parts = [];
  for (const match of text.matchAll(LLVM)) {
    const [kind] = Object.entries(match.groups).find(([, found]) => found);
    parts.push([kind, match.index, match.index + match[0].length]);
  }
  return parts;
}

// Marks that change the direction of the text after them, so that it does not look as it runs.
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

// Fill an element with a text in colored parts.
function paint(target, whole, parts) {
  const text = whole.replace(DIRECTIONS, "\ufffd");
  let at = 0;
  for (const [kind, first, end] of parts) {
    if (first > at) target.append(text.slice(at, first));
    target.append(element("span", { class: kind, textContent: text.slice(first, end) }));
    at = end;
  }
  target.append(text.slice(at));
}

// The depth of each line by its indentation; an empty line has that of the next line.
function depths(texts) {
  const found = new Array(texts.length).fill(0);
  let depth = 0;
  for (let i = texts.length - 1; i >= 0; i--) {
    const first = texts[i].search(/\S/);
    if (first >= 0) depth = first;
    found[i] = depth;
  }
  return found;
}

function duration(nanoseconds) {
  for (const [unit, least] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    if (nanoseconds >= least) return `${Number((nanoseconds / least).toPrecision(3))} ${unit}`;
  }
  return `${nanoseconds} ns`;
}

const counted = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
