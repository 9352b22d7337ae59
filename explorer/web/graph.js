// The structure of a graph from the rows of its text: scopes with nodes, and edges between them.
//
//   scope: {label, nodes: [node]}     node: {id, row, name, sub, at, regions: [scope], from: [{node, type}]}

const indentation = (row) => Math.max(0, row.text.search(/\S/));

// The names of the results, unless they are the operation's, and the constant operands.
function subtitle(row) {
  const named = row.defs.filter((name) => name !== row.name).join(", ");
  return [named, row.constants.join(", ")].filter(Boolean).join(" · ");
}

function structureOf(rows) {
  const graphs = [];
  let open = []; // scopes and operations that enclose the row, each with its depth
  rows.forEach((row, index) => {
    if (row.kind === "text" || row.kind === "ghost") return;
    const depth = indentation(row);
    while (open.length && open.at(-1).depth >= depth) open.pop();
    const holder = open.at(-1);
    if (row.kind === "graph" || row.kind === "region") {
      const scope = { label: row.kind === "graph" ? row.text.split("(")[0] : row.name, nodes: [], names: new Map(), depth };
      row.defs.forEach((name, i) => {
        const node = { id: `${index}.${i}`, row: index, kind: "input", name, sub: row.types[i], regions: [], from: [] };
        scope.nodes.push(node);
        scope.names.set(name, { node, type: row.types[i] });
      });
      if (row.kind === "graph") graphs.push(scope); else holder.node.regions.push(scope);
      open.push(scope);
      return;
    }
    const scope = holder;
    const from = row.uses.map((name) => scope.names.get(name)).filter(Boolean);
    if (row.kind === "end") {
      if (row.uses.length) scope.nodes.push({ id: `${index}`, row: index, kind: "output", name: row.text.trim().split(" ")[0], sub: "", regions: [], from });
      return;
    }
    const node = { id: `${index}`, row: index, kind: "op", name: row.name, sub: subtitle(row), at: row.at, op: row.op, regions: [], from };
    scope.nodes.push(node);
    row.defs.forEach((name, i) => scope.names.set(name, { node, type: row.types[i] }));
    open.push({ node, depth });
  });
  graphs.forEach(dropUnread);
  return graphs;
}

// Regions take all operands; inputs that nothing in them reads are not drawn.
function dropUnread(scope) {
  const read = new Set(scope.nodes.flatMap((node) => node.from.map((each) => each.node)));
  if (!scope.label.startsWith("graph")) scope.nodes = scope.nodes.filter((node) => node.kind !== "input" || read.has(node));
  for (const node of scope.nodes) node.regions.forEach(dropUnread);
}

const sizeOf = (scope) => scope.nodes.reduce((sum, node) => sum + 1 + node.regions.reduce((inner, each) => inner + sizeOf(each), 0), 0);

// The nodes of a scope that are drawn: all, or those around one of them, nearest first.
function around(scope, center, most) {
  if (scope.nodes.length <= most) return new Set(scope.nodes);
  const readers = new Map();
  for (const node of scope.nodes) {
    for (const { node: source } of node.from) (readers.get(source) ?? readers.set(source, []).get(source)).push(node);
  }
  const found = new Set([center ?? scope.nodes[0]]);
  for (const node of found) { // grows
    for (const next of [...node.from.map((each) => each.node), ...(readers.get(node) ?? []).slice(0, 8)]) {
      if (found.size >= most) return found;
      found.add(next);
    }
  }
  for (const node of scope.nodes) if (found.size < most && node.kind === "op" && !center) found.add(node);
  return found;
}
