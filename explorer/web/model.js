// The model of the page, and the rows that each pane shows of it.

const model = JSON.parse(byId("model").textContent);
const places = new Map(); // number of a source line → {file, line, text}

for (const section of model.source) {
  section.lines.forEach((text, i) => places.set(section.at[i], { file: section.title, line: section.first + i, text: text.trim() }));
}

const whole = Object.values(model.times).reduce((sum, each) => sum + each, 0);
const timeOfLine = new Map();
const opsOfLine = new Map();

const shareOf = (nanoseconds) => (whole && nanoseconds ? nanoseconds / whole : 0);
const lineNumber = (at) => places.get(at)?.line;

function titleRow(section, needed) {
  return needed ? [{ text: section.name ? `${section.title} · ${section.name}` : section.title, kind: "title" }] : [];
}

function sourceRows() {
  return model.source.flatMap((section, i) => {
    const parts = pythonTokens(section.lines);
    const rows = section.lines.map((text, j) => ({ text, parts: parts[j], at: section.at[j], number: section.first + j, share: shareOf(timeOfLine.get(section.at[j])) }));
    return [...(i ? [{ text: "" }] : []), ...titleRow(section, true), ...rows];
  });
}

function codeRows() {
  return model.code.flatMap((section, i) => {
    const lines = section.note ? [`# ${section.note}`] : section.lines;
    const parts = pythonTokens(lines);
    const rows = lines.map((text, j) => {
      const at = section.at?.[j] ?? undefined;
      return { text, parts: parts[j], at, number: lineNumber(at) };
    });
    return [...(i ? [{ text: "" }] : []), ...titleRow(section, model.code.length > 1), ...rows];
  });
}

// The stage that a stage's rows are those of: itself, or the last one before it with changes.
function shownStage(stages, index) {
  while (stages[index].same) index--;
  return index;
}

function before(stages, index) {
  return index > 0 ? stages[shownStage(stages, index - 1)] : null;
}

function graphRow(stage, i, kind) {
  const row = model.rows[stage.rows[i]], op = stage.ops[i];
  const nanoseconds = model.times[op];
  return {
    text: row.text, parts: (row.parts ??= graphTokens(row)), at: row.at, number: lineNumber(row.at), op, kind: kind ?? row.kind,
    row, share: shareOf(nanoseconds),
  };
}

// The rows of a stage, with the lines that it removed as ghosts.
function stageRows(stages, index) {
  const stage = stages[shownStage(stages, index)];
  const last = before(stages, index);
  const changes = stages[index].same ? [] : stage.changes;
  const found = [];
  let at = 0;
  const take = (end, kind) => { for (; at < end; at++) found.push(graphRow(stage, at, kind)); };
  for (const [first, end, start, stop] of changes) {
    take(start);
    for (let i = first; i < end; i++) found.push(graphRow(last, i, "ghost"));
    take(stop, "added");
  }
  take(stage.rows.length);
  return found;
}

function planRows() {
  const parts = pythonTokens(model.plan.lines);
  return model.plan.lines.map((text, i) => {
    const at = model.plan.at[i] ?? undefined, op = model.plan.ops[i];
    const first = op >= 0 && model.plan.ops.indexOf(op) === i;
    return { text, parts: parts[i], at, op, number: lineNumber(at), share: first ? shareOf(model.times[op]) : 0 };
  });
}

function nativeRows() {
  return model.native.lines.map((text, i) => {
    const at = model.native.at[i] ?? undefined;
    return { text, parts: nativeTokens(text), at, number: lineNumber(at) };
  });
}

// What the details say about a run: by source line, the number of operations of the last stage, and the time of all.
function summarizeLines() {
  const all = model.graphs.forward;
  const seen = new Set();
  all.forEach((stage, index) => stage.same || stage.rows.forEach((number, i) => {
    const { at, kind } = model.rows[number], op = stage.ops[i];
    if (at === undefined || kind !== "op") return;
    if (index === shownStage(all, all.length - 1)) opsOfLine.set(at, (opsOfLine.get(at) ?? 0) + 1);
    if (model.times[op] && !seen.has(op)) timeOfLine.set(at, (timeOfLine.get(at) ?? 0) + model.times[op]);
    seen.add(op);
  }));
}
