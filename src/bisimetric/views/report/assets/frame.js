// The frame of every report: texts, tables and lists from JSON, plain sections, and when things are drawn.
// A script of a section calls onStart(once, before the first drawing), onDraw(at the start, and again when the width or
// the colour scheme changes; may return a promise) and onDrawn(after each round of drawing).

const data = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);
const starting = [], drawing = [], finishing = [];
const onStart = act => starting.push(act);
const onDraw = act => drawing.push(act);
const onDrawn = act => finishing.push(act);

// ---------------------------------------------------------------- numbers and names

const short = value => (value === null || value === undefined ? "not solved" : String(Number(value.toPrecision(6))));

// Bounds with as many digits as they need to differ, rounded outwards, so that what is shown is certified too.
function between(lower, upper) {
  const digits = Math.min(15, Math.max(6, Math.ceil(-Math.log10((upper - lower) / upper || 1e-9)) + 2));
  const outwards = (value, sign) => {
    const near = Number(value.toPrecision(digits));
    if (value === 0 || sign * (near - value) >= 0) return near.toPrecision(digits);
    return (near + sign * 10 ** (Math.floor(Math.log10(value)) + 1 - digits)).toPrecision(digits);
  };
  return upper === 0 ? "0 and 0" : `${Number(lower) === 0 ? "0" : outwards(lower, -1)} and ${outwards(upper, 1)}`;
}
const percent = share => (share > 0 && share < 0.001 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`);

// A name inside other text: one that is written from right to left must not reorder what stands around it.
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const quoted = name => (name === "" ? "(empty name)" : RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name);

// Names for axes and drawings: words that all names begin with are left out of long ones, which would look alike.
function shortNames(names) {
  if (names.length < 2 || names.every(name => name.length <= 7)) return names;
  let same = 0;
  while (names.every(name => same < name.length && name[same] === names[0][same])) same++;
  const head = 1 + Math.max(...[" ", ":", "/", "_"].map(mark => names[0].slice(0, same).lastIndexOf(mark)));
  return head ? names.map(name => `…${name.slice(head)}`) : names;
}

// ---------------------------------------------------------------- elements

function element(tag, text, parent) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

function list(id, rows) {
  byId(id).replaceChildren();
  for (const [name, text] of rows) {
    const row = element("div", undefined, byId(id));
    element("dt", name, row);
    element("dd", text, row);
  }
}

function say(id, text) {
  byId(id).textContent = text;
  byId(id).hidden = !text;
}

// A table row; `first` is text or an element, `cells` are [text, share of a bar or undefined].
function tableRow(body, first, cells) {
  const row = element("tr", undefined, body);
  element("td", undefined, row).append(first);
  for (const [text, share] of cells) {
    const cell = element("td", text, row);
    if (share === undefined) continue;
    const bar = element("span", undefined, cell);
    bar.className = "bar";
    bar.style.width = `${Math.round(100 * Math.min(1, share))}%`;
  }
  return row;
}

function linkButton(text, act) {
  const button = element("button", text);
  button.type = "button";
  button.addEventListener("click", act);
  return button;
}

function fillChoice(id, names, choose) {
  names.forEach((name, k) => { element("option", quoted(name), byId(id)).value = String(k); });
  byId(id).addEventListener("change", choose);
}

// ---------------------------------------------------------------- plain sections: a table or a chart from JSON

function plainSection(card) {
  const place = byId(`${card.key}-card`);
  const title = element("h2", card.title, place);
  title.id = `${card.key}-title`;
  for (const part of ["hint", "note"]) {
    const said = element("p", card[part], place);
    said.id = `${card.key}-${part}`;
    said.className = part;
    if (part === "hint" && card.spec) plainChart(card, place);
    if (part === "hint" && card.rows) plainTable(card, place);
  }
}

function plainTable(card, place) {
  const scroll = element("div", undefined, place);
  scroll.className = "scroll";
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", card.title);
  const table = element("table", undefined, scroll);
  table.id = card.key;
  const head = element("tr", undefined, element("thead", undefined, table));
  for (const name of card.columns) element("th", name, head).scope = "col";
  const body = element("tbody", undefined, table);
  for (const [first, ...others] of card.rows) tableRow(body, quoted(first), others.map(text => [text]));
}

function plainChart(card, place) {
  const chart = element("div", undefined, place);
  chart.id = card.key;
  chart.className = "chart";
  onDraw(async () => {
    const fitted = { autosize: { type: "fit", contains: "padding" }, padding: 4, ...inColour(card.spec), width: chart.clientWidth };
    views[card.key] = await draw(chart, fitted, card.label, ({ tip }) => (tip === undefined ? null : [tip].flat()));
  });
}

// The specification with "--accent" and other names of colours as the colours of the present scheme; data stay as they are.
function inColour(part) {
  if (typeof part === "string" && part.startsWith("--")) return getComputedStyle(document.documentElement).getPropertyValue(part).trim();
  if (Array.isArray(part)) return part.map(inColour);
  if (part === null || typeof part !== "object") return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => {
    if (key === "values" || key === "datasets") return [key, structuredClone(value)]; // Vega marks the objects that it is given
    return [key, inColour(value)];
  }));
}

// ---------------------------------------------------------------- the beginning

function showTexts() {
  const { headline, reproduce } = data;
  document.title = data.title;
  byId("title").textContent = data.title;
  say("value", headline.text ?? short(headline.value));
  say("interval", headline.note ?? `certified between ${between(headline.lower, headline.upper)}`);
  say("meaning", data.meaning);
  list("facts", data.facts);
  byId("command").textContent = reproduce.command || "";
  byId("command-block").hidden = !reproduce.command;
  byId("python").textContent = reproduce.python;
  list("versions", reproduce.versions);
}

async function drawAll() {
  await Promise.all(drawing.map(act => act()));
  finishing.forEach(act => act());
}

async function begin() {
  showTexts();
  data.sections.forEach(plainSection);
  starting.forEach(act => act());
  await drawAll();
  document.documentElement.dataset.ready = "yes";
  let width = innerWidth, waiting = null;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });
  dark.addEventListener("change", drawAll);
}
