// The page: one pair of states is selected at a time; every view shows it, and every view can change it.

const [source, target] = data.models;
const m = target.states;
let selected = data.law[0][0];

// ---------------------------------------------------------------- what is known about pairs, by their number x·m + y

const rowOf = data.pairs.id && new Map(data.pairs.id.map((number, k) => [number, k]));
const otherValue = data.pairs.others && new Map(data.pairs.others[0].map((number, k) => [number, data.pairs.others[1][k]]));

function known(number) {
  const k = rowOf ? rowOf.get(number) : number;
  const table = data.pairs;
  if (k === undefined) return { value: otherValue.has(number) ? otherValue.get(number) : null, held: false };
  const flat = table.cells[k];
  const cells = [];
  for (let i = 0; flat && i < flat.length; i += 2) cells.push({ number: flat[i], weight: flat[i + 1] });
  return {
    value: table.value[k], lower: table.lower[k], upper: table.upper[k], cost: table.cost[k], share: table.share[k],
    cells, count: table.count[k], held: flat !== null, actions: table.actions && table.actions[k],
  };
}

const split = number => [Math.floor(number / m), number % m];

const labels = data.models.map(model => shortNames(allNames(model)));

const pairName = number => split(number).map((state, k) => quoted(nameOf(data.models[k], state))).join("  ·  ");

// A table row that begins with a button to go to a pair; `cells` are [text, share of a bar or undefined].
function pairRow(table, number, cells, enabled) {
  const button = linkButton(pairName(number), () => select(number));
  button.dataset.pair = number;
  button.disabled = !enabled;
  return tableRow(table, button, cells);
}

// ---------------------------------------------------------------- the selected pair

function select(number, { remember = true, quiet = false } = {}) {
  if (remember) walk.goTo(number);
  selected = number;
  const pair = known(number);
  const [x, y] = split(number);
  say("pair-name", pairName(number));
  byId("choose-source").value = String(x);
  byId("choose-target").value = String(y);
  list("pair-facts", pairFacts(pair));
  showCoupling(pair);
  markEverywhere(x, y, pair);
  if (!quiet) byId("said").textContent = `Pair ${pairName(number)}, distance ${short(pair.value)}`;
  for (const row of byId("explanation").tBodies[0].rows) {
    row.className = row.querySelector("button")?.dataset.pair === String(number) ? "current" : "";
  }
}

function pairFacts(pair) {
  const facts = [["Distance", short(pair.value)]];
  if (pair.lower !== undefined && pair.lower !== null) {
    facts.push(["Certified between", between(pair.lower, pair.upper)]);
    facts.push(["Paid here", pair.value > 0 ? `${short(pair.cost)} (${percent(pair.cost / pair.value)})` : short(pair.cost)]);
    if (data.explanation) facts.push(["Share of the whole distance", percent(pair.share)]);
  }
  if (pair.actions) facts.push(["Decisive actions", pair.actions.map((a, k) => data.actions[k][a]).join("  ·  ")]);
  return facts;
}

function showCoupling(pair) {
  const body = byId("coupling").tBodies[0];
  body.replaceChildren();
  let mass = 0;
  for (const { number, weight } of pair.cells || []) {
    const next = known(number);
    const share = pair.value > 0 && next.value !== null ? Math.min(1, (data.discount * weight * next.value) / pair.value) : 0;
    pairRow(body, number, [[percent(weight), weight], [short(next.value)], [percent(share), share]], next.held);
    mass += weight;
  }
  let note = "";
  if (!pair.held) note = "The coupling of this pair is not in this file; solution.coupling[x, y] has it.";
  else if (!pair.count) note = pair.value === null ? "The starts do not lead to this pair." : "The game ends at this pair.";
  else if (pair.cells.length < pair.count) {
    note = `The largest ${pair.cells.length} of ${pair.count} cells, ${percent(mass)} of the mass.`;
  } else note = pair.count === 1 ? "The only cell." : `All ${pair.count} cells.`;
  say("coupling-note", note);
}

function markEverywhere(x, y, pair) {
  if (views.matrix) {
    const cell = binOf(x, y);
    views.matrix.signal("row", cell[0]).signal("column", cell[1]).runAsync();
  }
  [x, y].forEach((state, k) => drawn[k] && drawn[k].mark(state, pair));
}

// ---------------------------------------------------------------- the matrix

const edges = [data.matrix.rows, data.matrix.columns];
const binStates = edges.map(list => {
  const bins = [];
  for (let k = 0; k + 1 < list.length; k++) for (let state = list[k]; state < list[k + 1]; state++) bins.push(k);
  return bins;
});
const binOf = (x, y) => [binStates[0][x], binStates[1][y]];
const values = data.matrix.binned ? data.matrix.value : data.pairs.value;
const largest = values.reduce((most, value) => Math.max(most, value || 0), 0);

function pairOfBin(r, c) {
  const place = r * (edges[1].length - 1) + c;
  return data.matrix.binned ? data.matrix.pair[place] : place;
}

function binName(k, bin) {
  const [first, last] = [edges[k][bin], edges[k][bin + 1] - 1];
  const model = data.models[k];
  return first === last ? quoted(nameOf(model, first)) : `${quoted(nameOf(model, first))} … ${quoted(nameOf(model, last))}`;
}

function tellCell({ r, c }) {
  const place = r * (edges[1].length - 1) + c;
  const head = [`source: ${binName(0, r)}`, `target: ${binName(1, c)}`];
  if (data.matrix.binned) {
    return [...head, `mean distance ${short(data.matrix.value[place])}`, `all between ${short(data.matrix.low[place])} and ${short(data.matrix.high[place])}`];
  }
  const pair = known(place);
  if (pair.value === null) return [...head, "not solved"];
  return [...head, `distance ${short(pair.value)}`, `certified between ${between(pair.lower, pair.upper)}`];
}

async function drawMatrix() {
  const place = byId("matrix");
  const [rows, columns] = edges.map(list => list.length - 1);
  const cells = values.map((v, k) => ({ r: Math.floor(k / columns), c: k % columns, v }));
  const names = [0, 1].map(k => Array.from({ length: edges[k].length - 1 }, (_, bin) => labels[k][edges[k][bin]]));
  const label = `Matrix of ${rows} by ${columns} distances; the largest is ${short(largest)}`;
  views.matrix = await draw(place, matrixSpec(place.clientWidth, cells, rows, columns, names, largest), label, tellCell);
  views.matrix.addEventListener("click", (_, item) => {
    if (item && item.datum && item.datum.r !== undefined) selectBin(item.datum.r, item.datum.c);
  });
}

function selectBin(r, c) {
  const number = pairOfBin(r, c);
  if (number >= 0) select(number);
}

byId("matrix").addEventListener("keydown", event => {
  const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!move && event.key !== "Enter") return;
  event.preventDefault();
  if (!move) {
    const next = known(selected).cells;
    if (next.length && known(next[0].number).held) select(next[0].number);
    return;
  }
  const [r, c] = binOf(...split(selected)).map((bin, k) => bin + move[k]);
  if (r >= 0 && c >= 0 && r + 1 < edges[0].length && c + 1 < edges[1].length) selectBin(r, c);
});

// ---------------------------------------------------------------- explanation, texts

function showExplanation() {
  const found = data.explanation;
  say("explanation-note", data.explanation_note);
  if (!found) return;
  const body = byId("explanation").tBodies[0];
  const endless = data.discount === 1; // without a discount the time at a pair is a number of visits
  if (endless) byId("time-head").textContent = "Visits";
  for (const [number, occupancy, cost, , share] of found.parts) {
    pairRow(body, number, [[endless ? short(occupancy) : percent(occupancy)], [short(cost)], [percent(share), share]], known(number).held);
  }
  byId("explanation-hint").textContent = found.parts.length
    ? `The pairs that add most, moving together from the start. ${endless ? "Visits are expected numbers" : "Time is discounted"}; cost is per visit.`
    : "No pair adds anything: the distance is zero.";
  if (found.others > 0) say("explanation-note", `${found.others} other pairs add ${short(found.rest)}.`);
}

// The most likely pair of trajectories on which the two models part.
function showPath() {
  const path = data.explanation && data.explanation.path;
  if (!path) return;
  say("path-summary", `${path.summary[0].toUpperCase()}${path.summary.slice(1)}.`);
  const body = byId("path").tBodies[0];
  path.moments.forEach(([number, chance, cost], time) => {
    const row = pairRow(body, number, [[String(time)], [percent(chance)], [short(cost)]], known(number).held);
    if (time === path.parting) row.className = "parting";
  });
  const after = path.moments.length - 1 > path.parting ? "Where they part is marked; after that the likeliest moves follow." : "";
  say("path-note", path.more ? `${path.more} later moments are not shown.` : after);
  const held = path.moments.slice(0, path.parting + 1).map(([number]) => number).filter(number => known(number).held);
  byId("follow").disabled = !held.length;
  byId("follow").addEventListener("click", () => {
    play(false);
    walk.path = [...held];
    walk.show();
    select(held[held.length - 1], { remember: false });
    byId("walk-title").scrollIntoView({ block: "start" });
  });
}

function showHints() {
  byId("matrix-hint").textContent = "Hover for numbers, click a pair to select it. With the keyboard: arrow keys move, Enter follows the likeliest successors.";
  byId("coupling-hint").textContent = "The coupling of the successors. Choose one to walk on. Couplings keep their largest cells, up to 95 % of the mass and of the distance.";
  if (data.matrix.binned) {
    const [rows, columns] = edges.map(list => list.length - 1);
    say("matrix-note", `${source.states} × ${target.states} states are too many to show one by one. They are binned: each of the ${rows} × ${columns} cells is the mean over neighbouring states, and selects the pair in it that adds most to the distance, or else the nearest.`);
  }
}

function fillChoices() {
  byId("choose").hidden = data.matrix.binned;
  if (data.matrix.binned) return;
  const choose = () => select(Number(byId("choose-source").value) * m + Number(byId("choose-target").value));
  ["choose-source", "choose-target"].forEach((id, k) => {
    fillChoice(id, allNames(data.models[k]), choose);
  });
}

onStart(showHints);
onStart(fillChoices);
onStart(showExplanation);
onStart(showPath);
onDraw(drawMatrix);
onDrawn(() => select(selected, { remember: false, quiet: true }));
