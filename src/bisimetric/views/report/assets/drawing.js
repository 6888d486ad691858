// Drawings of models: places in pixels, arrows, and the Vega-Lite specification.

// Places in pixels. A map keeps its shape; a graph fills the picture.
function layOut(model, texts, width) {
  const columns = Math.max(...model.x) + 1, rows = Math.max(...model.y) + 1;
  const cell = model.map ? Math.min(width / columns, 460 / rows, 56) : 0;
  const height = model.map ? Math.ceil(cell * rows) + (model.beside.length ? 14 : 0) : Math.min(440, Math.max(240, width * 0.7));
  const size = model.map ? (0.76 * cell) ** 2 : Math.max(40, Math.min(420, 14000 / model.states));
  const named = model.names && model.states <= 30 && !model.map;
  const room = named ? 50 : 24;
  const left = model.map ? (width - cell * columns) / 2 : 0;
  const at = state => model.map
    ? { x: left + (model.x[state] + 0.5) * cell, y: (model.y[state] + 0.5) * cell }
    : { x: room + model.x[state] * (width - 2 * room), y: room + model.y[state] * (height - 2 * room) };
  const starts = new Set(model.start.map(([state]) => state));
  const nodes = Array.from({ length: model.states }, (_, state) => ({
    state, ...at(state), v: null, start: starts.has(state) && starts.size < model.states, text: named || model.beside.includes(state) ? texts[state] : null,
  }));
  const picture = { width, height, size, cell: model.map, nodes, at };
  const [from, to, p] = model.moves;
  picture.edges = from.map((state, i) => arrow(picture, state, to[i], p[i]));
  return picture;
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

// One model: moves as lines, states as dots or cells, the state of the selected pair and its moves on top.
function modelSpec(width, height, drawn, largest) {
  const { ink, soft, accent, card } = colours();
  const x = { field: "x", type: "quantitative", axis: null, scale: { domain: [0, width], nice: false, zero: false } };
  const y = { field: "y", type: "quantitative", axis: null, scale: { domain: [height, 0], nice: false, zero: false } };
  const line = { x, y, x2: { field: "x2" }, y2: { field: "y2" } };
  const width_of = range => ({ field: "p", type: "quantitative", legend: null, scale: { domain: [0, 1], range } });
  const arrow = { type: "point", shape: "triangle", filled: true, opacity: 1 };
  const angle = { field: "angle", type: "quantitative", scale: null };
  const tips = { x: { ...x, field: "xa" }, y: { ...y, field: "ya" }, angle };
  const fade = { field: "p", type: "quantitative", legend: null, scale: { domain: [0, 1], range: [0.12, 0.7] } };
  return {
    width, height, padding: 0, autosize: "none",
    datasets: { // copies of the nodes: Vega marks the objects that it is given
      nodes: drawn.nodes.map(node => ({ ...node })), edges: drawn.edges, moves: [], here: [],
    },
    resolve: { scale: { strokeWidth: "independent", opacity: "independent", size: "independent" } },
    layer: [
      { data: { name: "edges" }, mark: { type: "rule", color: soft }, encoding: { ...line, strokeWidth: width_of([0.4, 2.2]), opacity: fade } },
      { data: { name: "edges" }, mark: { ...arrow, color: soft, size: 22 }, encoding: { ...tips, opacity: fade } },
      {
        data: { name: "nodes" },
        mark: {
          type: "point", shape: drawn.cell ? "square" : "circle", filled: true, opacity: 1, size: drawn.size,
          tooltip: true, cursor: "pointer", invalid: null,
        },
        encoding: {
          x, y,
          color: {
            condition: { test: "isValid(datum.v)", field: "v", type: "quantitative", legend: null, scale: { ...scheme(), domain: [0, largest || 1] } },
            value: soft,
          },
        },
      },
      {
        data: { name: "nodes" }, transform: [{ filter: "datum.start" }],
        mark: { type: "point", shape: drawn.cell ? "square" : "circle", filled: false, opacity: 1, size: drawn.size, stroke: ink, strokeWidth: 2.5 },
        encoding: { x, y },
      },
      { data: { name: "moves" }, mark: { type: "rule", color: accent }, encoding: { ...line, strokeWidth: width_of([1.2, 5]) } },
      { data: { name: "moves" }, mark: { ...arrow, color: accent, size: 70 }, encoding: tips },
      {
        data: { name: "here" },
        mark: { type: "point", shape: drawn.cell ? "square" : "circle", filled: false, opacity: 1, size: drawn.size * 1.5, stroke: accent, strokeWidth: 4 },
        encoding: { x, y },
      },
      {
        data: { name: "nodes" }, transform: [{ filter: "isValid(datum.text)" }],
        mark: { type: "text", dy: drawn.cell ? Math.sqrt(drawn.size) * 0.5 + 8 : -Math.sqrt(drawn.size) * 0.75 - 4, fontSize: 11, color: ink, stroke: card, strokeWidth: 3, limit: 90 },
        encoding: { x, y, text: { field: "text" } },
      },
      {
        data: { name: "nodes" }, transform: [{ filter: "isValid(datum.text)" }],
        mark: { type: "text", dy: drawn.cell ? Math.sqrt(drawn.size) * 0.5 + 8 : -Math.sqrt(drawn.size) * 0.75 - 4, fontSize: 11, color: ink, limit: 90 },
        encoding: { x, y, text: { field: "text" } },
      },
    ],
  };
}
