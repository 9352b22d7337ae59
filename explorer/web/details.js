// The strip below the panes: a line or operation, its values in the run, its time, its origin.

function term(name, value) { return element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value })); }

function valueText({ type, min, max, first, other }) {
  const range = min === undefined || min === first ? "" : `  min ${min}  max ${max}`;
  return `${type}  ${first}${range}${other ? `  (${other})` : ""}`;
}

function showDetails(target, row) {
  const head = element("p");
  const list = element("dl");
  target.replaceChildren(head, list);
  const place = row && places.get(row.at);
  if (!row || (!place && !(row.op >= 0))) {
    head.className = "quiet";
    head.textContent = "Point at a line to see where it comes from and what it became.";
    if (model.error) list.append(term("failed", model.error));
    if (model.run_note) list.append(term("note", model.run_note));
    if (model.result !== undefined) list.append(term("result", model.result));
    return;
  }
  const text = element("code");
  paint(text, row.text.trim().replace(/\s{2,}:/, " :"), []);
  head.append(text);
  const run = model.values[row.op];
  if (run) {
    run.values.forEach((value, i) => list.append(term(row.row?.defs[i] ?? "value", valueText(value))));
    if (run.runs > 1) list.append(term("ran", `${run.runs.toLocaleString("en")} times; the last values`));
  }
  const spent = row.op >= 0 ? model.times[row.op] : timeOfLine.get(row.at);
  if (spent) list.append(term("time", `${duration(spent)}, ${(100 * shareOf(spent)).toFixed(1)} %`));
  if (!(row.op >= 0)) list.append(term("became", opsOfLine.has(row.at) ? counted(opsOfLine.get(row.at), "operation") : "no operation of its own"));
  if (place) {
    list.append(term("from", `${place.file}:${place.line}`));
    if (row.op >= 0 || row.text.trim() !== place.text) list.append(term("", place.text));
  }
}
