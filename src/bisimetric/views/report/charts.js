// Charts: Vega-Lite specifications of the matrix, the two models and the convergence. Names never stand in a
// specification's expressions; they are data, and the tooltip shows them with textContent.

const dark = matchMedia("(prefers-color-scheme: dark)");

function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = name => style.getPropertyValue(name).trim();
  return { ink: of("--ink"), soft: of("--soft"), line: of("--line"), card: of("--card"), accent: of("--accent") };
}

function settings() {
  const { ink, soft, line, card } = colours();
  const texts = { labelColor: soft, titleColor: soft, labelFontSize: 11, titleFontSize: 12, titleFontWeight: "normal" };
  return {
    background: card, font: getComputedStyle(document.body).fontFamily,
    view: { stroke: null }, text: { color: ink },
    axis: { ...texts, domainColor: line, tickColor: line, gridColor: line, labelLimit: 90 },
    legend: { ...texts, gradientThickness: 10, gradientLength: 160 },
  };
}

const scheme = () => ({ scheme: "viridis" });

// Draw a specification into an element; `tell` makes the tooltip's lines from the datum under the pointer.
const charts = new Map();
async function draw(element, spec, label, tell) {
  charts.get(element)?.finalize();
  const chart = await vegaEmbed(element, spec, {
    mode: "vega-lite", actions: false, renderer: "canvas", config: settings(),
    tooltip: (_, event, item) => showTip(event, item && item.datum && tell ? tell(item.datum) : null),
  });
  charts.set(element, chart);
  element.onpointerleave = () => showTip(null, null);
  const canvas = element.querySelector("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  return chart.view;
}

function showTip(event, lines) {
  const tip = document.getElementById("tip");
  tip.hidden = !lines;
  if (!lines) return;
  tip.textContent = lines.join("\n");
  const { offsetWidth: width, offsetHeight: height } = tip;
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4))}px`;
  tip.style.top = `${event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18}px`;
}

// cells: [{r, c, v}], rows and columns of the matrix; names: what stands at the axes.
function matrixSpec(width, cells, rows, columns, names, largest) {
  const { accent, card } = colours();
  const narrow = width < 480;
  // Cells of a whole number of pixels: between others, lines would shine through.
  const pixels = length => Math.max(1, Math.floor(length * devicePixelRatio)) / devicePixelRatio;
  const whole = (length, count) => (count > 20 ? count * pixels(length / count) : length);
  const inside = whole(Math.max(120, width - (narrow ? 70 : 190)), columns);
  const side = (field, title, count, texts) => ({
    field, type: "ordinal", title, scale: { domain: [...Array(count).keys()], paddingInner: count > 20 ? 0 : 0.04 },
    axis: {
      labelExpr: `${texts}[datum.value]`, labelOverlap: "greedy", labelSeparation: 4, ticks: false, domain: false,
      labelAngle: field === "c" ? -45 : 0, labelLimit: narrow ? 50 : 90,
    },
  });
  const x = side("c", "target state", columns, "targets");
  const y = side("r", "source state", rows, "sources");
  const bare = channel => ({ field: channel.field, type: "ordinal", scale: channel.scale });
  const here = { transform: [{ filter: "datum.r === row && datum.c === column" }], encoding: { x: bare(x), y: bare(y) } };
  const height = whole(Math.min(620, Math.max(120, inside * Math.min(1.6, Math.max(0.25, rows / columns)))), rows);
  const frame = { type: "point", shape: "square", filled: false, opacity: 1, size: Math.max(120, Math.min(inside / columns, height / rows) ** 2) };
  return {
    width: inside, height, padding: 4,
    params: [
      { name: "row", value: -1 }, { name: "column", value: -1 },
      { name: "sources", value: names[0] }, { name: "targets", value: names[1] },
    ],
    data: { name: "cells", values: cells },
    layer: [
      {
        mark: { type: "rect", tooltip: true, cursor: "pointer", invalid: "filter" },
        encoding: {
          x, y,
          color: {
            field: "v", type: "quantitative", scale: { ...scheme(), domain: [0, largest || 1] },
            legend: { title: "distance", format: ".2~g", ...(narrow ? { orient: "bottom", direction: "horizontal" } : {}) },
          },
        },
      },
      { ...here, mark: { ...frame, stroke: card, strokeWidth: 6 } },
      { ...here, mark: { ...frame, stroke: accent, strokeWidth: 3 } },
    ],
  };
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

function convergenceSpec(width, points, gap) {
  const { accent, soft } = colours();
  const ticks = points.length <= 12 ? { values: points.map(point => point.step) } : {};
  const x = { field: "step", type: "quantitative", title: "step", axis: { format: "d", grid: false, ...ticks } };
  const y = { field: "gap", type: "quantitative", title: "gap", scale: { type: "log" }, axis: { format: ".0e", tickCount: 6 } };
  const certified = { data: { values: gap > 0 ? [{ gap }] : [] }, encoding: { y } };
  return {
    width: Math.max(120, width - 75), height: 300, padding: 4,
    layer: [
      { data: { values: points }, mark: { type: "line", point: { size: 45, filled: true, color: soft }, color: soft, tooltip: true }, encoding: { x, y } },
      { ...certified, mark: { type: "rule", color: accent, strokeDash: [5, 4], strokeWidth: 1.5 } },
    ],
  };
}
