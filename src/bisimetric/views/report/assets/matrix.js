// The matrix of distances as a Vega-Lite specification.

// cells: [{r, c, v}], rows and columns of the matrix; names: what stands at the axes.
function matrixSpec(width, cells, rows, columns, names, largest, titles = ["source state", "target state"]) {
  const { accent, card } = colours();
  const narrow = width < 480;
  // Cells of a whole number of pixels: between others, lines would shine through.
  const pixels = length => Math.max(1, Math.floor(length * devicePixelRatio)) / devicePixelRatio;
  const whole = (length, count) => (count > 20 ? count * pixels(length / count) : length);
  const inside = whole(Math.min(Math.max(120, width - (narrow ? 70 : 190)), Math.max(240, 90 * columns)), columns);
  const side = (field, title, count, texts) => ({
    field, type: "ordinal", title, scale: { domain: [...Array(count).keys()], paddingInner: count > 20 ? 0 : 0.04 },
    axis: {
      labelExpr: `${texts}[datum.value]`, labelOverlap: "greedy", labelSeparation: 4, ticks: false, domain: false,
      labelAngle: field === "c" ? -45 : 0, labelLimit: narrow ? 50 : 90,
    },
  });
  const x = side("c", titles[1], columns, "targets");
  const y = side("r", titles[0], rows, "sources");
  const bare = channel => ({ field: channel.field, type: "ordinal", scale: channel.scale });
  const here = { transform: [{ filter: "datum.r === row && datum.c === column" }], encoding: { x: bare(x), y: bare(y) } };
  const height = whole(Math.min(620, Math.max(120, inside * Math.min(1.6, Math.max(0.25, rows / columns)))), rows);
  const frame = { type: "point", shape: "square", filled: false, opacity: 1, tooltip: true, size: Math.max(120, Math.min(inside / columns, height / rows) ** 2) };
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
