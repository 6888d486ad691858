// Charts: drawing of Vega-Lite specifications, in the colours of the scheme. Names never stand in the expressions of a
// specification; they are data, and the tooltip shows them with textContent.

const dark = matchMedia("(prefers-color-scheme: dark)");

function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = name => style.getPropertyValue(name).trim();
  return { ink: of("--ink"), soft: of("--soft"), line: of("--line"), card: of("--card"), accent: of("--accent"), bar: of("--bar") };
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

const views = {}; // charts by name
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
