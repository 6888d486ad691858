// Drawings of models: places in pixels, arrows, and the Vega-Lite specification.

const nameOf = (model, state) => (model.names ? model.names[state] : String(state));
const allNames = model => model.names || Array.from({ length: model.states }, (_, state) => String(state));
const statesOf = model => `${model.states} ${model.states === 1 ? "state" : "states"}`;
const NAMED_STATES = 40; // a graph with more states shows no names

// Places in pixels. A map keeps its shape; a graph fills the picture.
function layOut(model, texts, width) {
  const columns = Math.max(...model.x) + 1, rows = Math.max(...model.y) + 1;
  const cell = model.map ? Math.min(width / columns, 460 / rows, 56) : 0;
  const height = model.map ? Math.ceil(cell * rows) + (model.beside.length ? 14 : 0) : Math.min(440, Math.max(240, width * 0.7), 120 + 60 * model.states);
  const size = model.map ? (0.76 * cell) ** 2 : Math.max(40, Math.min(420, 14000 / model.states));
  const room = 34;
  const left = model.map ? (width - cell * columns) / 2 : 0;
  const at = state => model.map
    ? { x: left + (model.x[state] + 0.5) * cell, y: (model.y[state] + 0.5) * cell }
    : { x: model.states > 1 ? room + model.x[state] * (width - 2 * room) : width / 2, y: model.states > 1 ? room + model.y[state] * (height - 2 * room) : height / 2 };
  const starts = new Set(model.start.map(([state]) => state));
  const nodes = Array.from({ length: model.states }, (_, state) => ({ state, ...at(state), v: null, start: starts.has(state) && starts.size < model.states }));
  const picture = { width, height, size, cell: model.map, nodes, at };
  const [from, to, p] = model.moves;
  picture.edges = from.map((state, i) => arrow(picture, state, to[i], p[i]));
  picture.loops = nodes.flatMap(({ state }) => (model.stay[state] >= 0.005 ? [loop(picture, state, model.stay[state])] : []));
  picture.loopSize = loopRadius(picture) ** 2 * Math.PI;
  picture.texts = model.map ? cellTexts(model, texts, picture, cell) : nodeTexts(model, texts, picture);
  return picture;
}

// Marks in the cells where they fit, at least their first letter; names of states beside the map.
function cellTexts(model, texts, picture, cell) {
  const marks = model.marks.filter(([state]) => cell >= LINE && !model.beside.includes(state)).flatMap(([state, mark]) => {
    const { x, y } = picture.at(state);
    const lines = mark.split("\n").map(line => (LETTER * line.length <= 0.8 * cell ? line : line[0]));
    const shown = lines.length * (LINE - 2) <= 0.8 * cell ? lines : lines.slice(-1);
    return shown.map((text, k) => ({ state, x, y: y + (k - (shown.length - 1) / 2) * (LINE - 2), text }));
  });
  const beside = model.beside.map(state => ({ state, x: picture.at(state).x, y: picture.at(state).y + cell / 2 + 6, text: texts[state] }));
  return [...marks, ...beside];
}

// Names and marks of a graph's states; marked states first, so that theirs are there.
function nodeTexts(model, texts, picture) {
  const marks = new Map(model.marks);
  const named = model.states <= NAMED_STATES;
  const points = picture.nodes.map(({ state, x, y }) => ({ state, x, y, name: [...(named ? [texts[state]] : []), ...(marks.has(state) ? marks.get(state).split("\n") : [])].join(" ") }));
  points.sort((a, b) => b.name.length - a.name.length);
  return placedLabels(points, Math.sqrt(picture.size / Math.PI) + 1, picture, { others: picture.loops, otherRadius: loopRadius(picture) });
}

// A line beside the straight one between two states, so that the way back does not cover it, and its arrow head.
function arrow(picture, from, to, p) {
  const a = picture.at(from), b = picture.at(to);
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const dx = (b.x - a.x) / length, dy = (b.y - a.y) / length;
  const radius = picture.cell ? Math.sqrt(picture.size) * 0.5 + 1 : Math.sqrt(picture.size / Math.PI) + 2;
  const aside = picture.cell ? Math.sqrt(picture.size) * 0.12 : 2.5;
  const point = (base, along) => ({ x: base.x + along * dx - aside * dy, y: base.y + along * dy + aside * dx });
  const first = point(a, radius / 2), last = point(b, -radius);
  const head = point(b, -radius - 2);
  return { x: first.x, y: first.y, x2: last.x, y2: last.y, xa: head.x, ya: head.y, p, angle: (Math.atan2(dy, dx) * 180) / Math.PI + 90 };
}

// A move that stays: a ring at the state, away from the middle of a graph, in the corner of a cell.
const loopRadius = picture => (picture.cell ? Math.max(2, Math.sqrt(picture.size) * 0.13) : Math.max(4, Math.sqrt(picture.size / Math.PI) * 0.8));
function loop(picture, state, p) {
  const { x, y } = picture.at(state);
  if (picture.cell) return { state, x: x + Math.sqrt(picture.size) * 0.32, y: y - Math.sqrt(picture.size) * 0.32, p };
  const [dx, dy] = [x - picture.width / 2, y - picture.height / 2];
  const length = Math.hypot(dx, dy) || 1;
  const away = Math.sqrt(picture.size / Math.PI) + loopRadius(picture) - 1;
  return { state, x: x + (length > 1 ? dx / length : 0) * away, y: y + (length > 1 ? dy / length : -1) * away, p };
}

// What is known about a state: name, start, label, rewards, how likely it stays.
function stateFacts(model, state) {
  const lines = [quoted(nameOf(model, state))];
  const start = model.start.find(([other]) => other === state);
  if (start) lines.push(`start: ${percent(start[1])}`);
  if (model.label && model.label[state]) lines.push(`label: ${quoted(model.label[state])}`);
  if (model.reward) {
    const [low, high] = [model.reward[state], model.reward_high ? model.reward_high[state] : model.reward[state]];
    lines.push(low === high ? `reward: ${short(low)}` : `rewards: ${short(low)} to ${short(high)}`);
  }
  if (model.stay[state] > 0) lines.push(`stays: ${percent(model.stay[state])}`);
  return lines;
}

// One model: moves as lines, states as dots or cells, then what is selected and its moves. `colour` is an encoding.
function modelSpec(drawn, colour, { outlineWidth = 4, fontSize = 11 } = {}) {
  const { width, height } = drawn;
  const { ink, soft, accent } = colours();
  const x = { field: "x", type: "quantitative", axis: null, scale: { domain: [0, width], nice: false, zero: false } };
  const y = { field: "y", type: "quantitative", axis: null, scale: { domain: [height, 0], nice: false, zero: false } };
  const line = { x, y, x2: { field: "x2" }, y2: { field: "y2" } };
  const widthOf = range => ({ field: "p", type: "quantitative", legend: null, scale: { domain: [0, 1], range } });
  const head = { type: "point", shape: "triangle", filled: true, opacity: 1 };
  const ring = { type: "point", shape: "circle", filled: false, opacity: 1, tooltip: true, cursor: "pointer", size: drawn.loopSize };
  const angle = { field: "angle", type: "quantitative", scale: null };
  const tips = { x: { ...x, field: "xa" }, y: { ...y, field: "ya" }, angle };
  const fade = { field: "p", type: "quantitative", legend: null, scale: { domain: [0, 1], range: [0.12, 0.7] } };
  const dot = { type: "point", shape: drawn.cell ? "square" : "circle", opacity: 1, size: drawn.size };
  const outline = { ...dot, filled: false, tooltip: true, cursor: "pointer" };
  const loops = [
    { data: { name: "loops" }, mark: { ...ring, stroke: drawn.cell ? "white" : soft }, encoding: { x, y, strokeWidth: widthOf([0.6, 2.4]), ...(drawn.cell ? {} : { opacity: fade }) } },
    { data: { name: "stays" }, mark: { ...ring, stroke: accent }, encoding: { x, y, strokeWidth: widthOf([1.2, 4]) } },
  ];
  return {
    width, height, padding: 0, autosize: "none",
    datasets: { // copies of the nodes: Vega marks the objects that it is given
      nodes: drawn.nodes.map(node => ({ ...node })), edges: drawn.edges, loops: drawn.loops, texts: drawn.texts, moves: [], stays: [], here: [],
    },
    resolve: { scale: { strokeWidth: "independent", opacity: "independent", size: "independent" } },
    layer: [
      { data: { name: "edges" }, mark: { type: "rule", color: soft }, encoding: { ...line, strokeWidth: widthOf([0.4, 2.2]), opacity: fade } },
      { data: { name: "edges" }, mark: { ...head, color: soft, size: 22 }, encoding: { ...tips, opacity: fade } },
      ...(drawn.cell ? [] : loops),
      { data: { name: "nodes" }, mark: { ...dot, filled: true, tooltip: true, cursor: "pointer", invalid: null }, encoding: { x, y, color: colour } },
      ...(drawn.cell ? loops : []),
      { data: { name: "nodes" }, transform: [{ filter: "datum.start" }], mark: { ...outline, stroke: ink, strokeWidth: 2.5 }, encoding: { x, y } },
      { data: { name: "moves" }, mark: { type: "rule", color: accent }, encoding: { ...line, strokeWidth: widthOf([1.2, 5]) } },
      { data: { name: "moves" }, mark: { ...head, color: accent, size: 70 }, encoding: tips },
      { data: { name: "here" }, mark: { ...outline, size: drawn.size * (1.1 + outlineWidth / 10), stroke: accent, strokeWidth: outlineWidth }, encoding: { x, y } },
      ...labelLayers("texts", x, y, fontSize),
    ],
  };
}
