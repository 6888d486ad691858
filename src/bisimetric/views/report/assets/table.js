// A table of distances between chains or states (data.words): one pair is selected; matrix, lists and map show it and
// change it.

const { table } = data;
const columnCount = data.columns.length;
const rowOf = new Map(table.pairs.id.map((number, k) => [number, k]));
const edges = [table.rows, table.columns];
const cellValues = table.binned ? table.value : table.pairs.value;
const largest = cellValues.reduce((most, value) => Math.max(most, value || 0), 0);
const split = number => [Math.floor(number / columnCount), number % columnCount];
const nameAt = (k, chain) => quoted((k ? data.columns : data.rows)[chain]);
const pairName = number => split(number).map((chain, k) => nameAt(k, chain)).join("  ·  ");
const placeOf = table.order.map(order => { // of every chain, its row or column in the matrix
  const places = new Array(order.length);
  order.forEach((chain, place) => { places[chain] = place; });
  return places;
});
const binOf = edges.map(list => list.slice(1).flatMap((end, bin) => Array(end - list[bin]).fill(bin)));
let selected = farthest();

function farthest() {
  const most = table.pairs.value.reduce((best, value, k) => (value > table.pairs.value[best] ? k : best), 0);
  return table.pairs.id[most];
}

function known(number) {
  const k = rowOf.get(number);
  const { value, lower, upper, status } = table.pairs;
  return k === undefined ? null : { value: value[k], lower: lower[k], upper: upper[k], status: table.statuses[status[k]] };
}

function select(number, { quiet = false } = {}) {
  const pair = known(number);
  if (!pair) return;
  selected = number;
  const [i, j] = split(number);
  say("pair-name", pairName(number));
  byId("choose-source").value = String(i);
  byId("choose-target").value = String(j);
  list("pair-facts", [["Distance", short(pair.value)], ["Certified between", between(pair.lower, pair.upper)], ["Status", pair.status]]);
  if (!table.binned) showNear(i, j);
  if (views.matrix) views.matrix.signal("row", binOf[0][placeOf[0][i]]).signal("column", binOf[1][placeOf[1][j]]).runAsync();
  markMap(i, j);
  if (!quiet) byId("said").textContent = `Pair ${pairName(number)}, distance ${short(pair.value)}`;
}

function showNear(i, j) {
  byId("near-title").textContent = `From ${nameAt(0, i)}, nearest first`;
  const body = byId("near").tBodies[0];
  body.replaceChildren();
  const found = data.columns.map((_, other) => ({ other, ...known(i * columnCount + other) }));
  found.filter(({ other }) => !data.map || other !== i).sort((a, b) => a.value - b.value || a.other - b.other).forEach(({ other, value, lower, upper }) => {
    const button = linkButton(nameAt(1, other), () => select(i * columnCount + other));
    const row = tableRow(body, button, [[short(value), largest > 0 ? value / largest : 0], [between(lower, upper)]]);
    row.lastChild.className = "extra";
    row.className = other === j ? "current" : "";
  });
}

// ---------------------------------------------------------------- the matrix

function binName(k, bin) {
  const [first, last] = [edges[k][bin], edges[k][bin + 1] - 1].map(place => nameAt(k, table.order[k][place]));
  return edges[k][bin + 1] - edges[k][bin] === 1 ? first : `${first} … ${last}`;
}

function tellCell({ r, c }) {
  const place = r * (edges[1].length - 1) + c;
  const head = [binName(0, r), binName(1, c)];
  if (table.binned) return [...head, `mean distance ${short(table.value[place])}`, `all between ${short(table.low[place])} and ${short(table.high[place])}`];
  const pair = known(table.pairs.id[place]);
  return [...head, `distance ${short(pair.value)}`, `certified between ${between(pair.lower, pair.upper)}`, pair.status.split(":")[0]];
}

onDraw(async () => {
  const place = byId("matrix");
  const [rows, columns] = edges.map(list => list.length - 1);
  const cells = cellValues.map((v, k) => ({ r: Math.floor(k / columns), c: k % columns, v }));
  const names = [shortNames(data.rows), shortNames(data.columns)].map((all, k) => edges[k].slice(0, -1).map(first => all[table.order[k][first]]));
  const label = `Matrix of ${rows} by ${columns} distances; the largest is ${short(largest)}`;
  views.matrix = await draw(place, matrixSpec(place.clientWidth, cells, rows, columns, names, largest, ["", ""]), label, tellCell);
  views.matrix.addEventListener("click", (_, item) => {
    if (item && item.datum && item.datum.r !== undefined) selectBin(item.datum.r, item.datum.c);
  });
});

const selectBin = (r, c) => select(table.pairs.id[r * (edges[1].length - 1) + c]);

byId("matrix").addEventListener("keydown", event => {
  const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!move) return;
  event.preventDefault();
  const [r, c] = split(selected).map((chain, k) => binOf[k][placeOf[k][chain]] + move[k]);
  if (r >= 0 && c >= 0 && r + 1 < edges[0].length && c + 1 < edges[1].length) selectBin(r, c);
});

// ---------------------------------------------------------------- the map

const MAP_HEIGHT = 420;
let mapPoints = null;

async function drawMap() {
  if (!data.map) return;
  const place = byId("map");
  const { ink, accent, card, bar } = colours();
  const width = place.clientWidth, height = Math.min(MAP_HEIGHT, width), room = 30;
  const [left, right, low, high] = [Math.min(...data.map.x), Math.max(...data.map.x), Math.min(...data.map.y), Math.max(...data.map.y)];
  const unit = Math.min((width - 2 * room) / (right - left || 1), (height - 2 * room) / (high - low || 1)); // the same both ways
  mapPoints = shortNames(data.rows).map((name, chain) => ({
    chain, name, x: width / 2 + (data.map.x[chain] - (left + right) / 2) * unit, y: height / 2 - (data.map.y[chain] - (low + high) / 2) * unit,
  }));
  const x = { field: "x", type: "quantitative", axis: null, scale: { domain: [0, width], nice: false, zero: false } };
  const y = { field: "y", type: "quantitative", axis: null, scale: { domain: [height, 0], nice: false, zero: false } };
  const line = { x, y, x2: { field: "x2" }, y2: { field: "y2" } };
  const spec = {
    width, height, padding: 0, autosize: "none",
    datasets: { points: mapPoints.map(point => ({ ...point })), texts: placedLabels(mapPoints, 6, { width, height }), here: [], between: [] },
    layer: [
      { data: { name: "between" }, mark: { type: "rule", color: accent, strokeWidth: 2 }, encoding: line },
      { data: { name: "points" }, mark: { type: "point", filled: true, size: 80, opacity: 1, color: bar, stroke: ink, strokeWidth: 1, tooltip: true, cursor: "pointer" }, encoding: { x, y } },
      { data: { name: "here" }, mark: { type: "point", filled: true, size: 110, opacity: 1, color: accent, stroke: card, strokeWidth: 1.5, tooltip: true }, encoding: { x, y } },
      ...labelLayers("texts", x, y),
    ],
  };
  const tell = ({ chain }) => {
    if (chain === undefined) return null;
    const pair = known(split(selected)[0] * columnCount + chain);
    return [nameAt(0, chain), ...(pair ? [`distance from ${nameAt(0, split(selected)[0])}: ${short(pair.value)}`] : [])];
  };
  views.map = await draw(place, spec, `Map of ${data.rows.length} chains; those at small distances are near each other`, tell);
  views.map.addEventListener("click", (_, item) => {
    if (item && item.datum && item.datum.chain !== undefined) select(split(selected)[0] * columnCount + item.datum.chain);
  });
}

function markMap(i, j) {
  if (!views.map) return;
  const [a, b] = [mapPoints[i], mapPoints[j]];
  views.map.data("here", [{ ...a }, { ...b }]).data("between", [{ x: a.x, y: a.y, x2: b.x, y2: b.y }]).runAsync();
}

onStart(() => {
  for (const word of ["first", "second", "thing"]) byId(`word-${word}`).textContent = data.words[word];
  byId("matrix-hint").textContent = `${data.words.order}Hover for numbers, click a pair to select it; arrow keys move.`;
  byId("choose").hidden = table.binned;
  byId("near-block").hidden = table.binned;
  const choose = () => select(Number(byId("choose-source").value) * columnCount + Number(byId("choose-target").value));
  fillChoice("choose-source", data.rows, choose);
  fillChoice("choose-target", data.columns, choose);
  if (data.map) byId("map-hint").textContent = data.map.hint;
  if (table.binned) {
    const [rows, columns] = edges.map(list => list.length - 1);
    say("matrix-note", `${data.rows.length} × ${columnCount} ${data.words.many} are too many to show one by one. They are binned: each of the ${rows} × ${columns} cells is the mean over neighbouring ${data.words.many}, and selects the nearest pair in it.`);
  }
});
onDraw(drawMap);
onDrawn(() => select(selected, { quiet: true }));
