// The two models as drawings, the walk of the coupled chains, and the player that continues it at random.

// ---------------------------------------------------------------- drawings

const drawn = [null, null];

async function drawModel(k) {
  const place = byId(["source", "target"][k]);
  const model = data.models[k];
  byId(`${place.id}-title`).textContent = `${k ? "Target" : "Source"}: ${data.names ? `${data.names[k]}, ` : ""}${model.states} states`;
  say(`${place.id}-note`, model.notes.join(" "));
  place.hidden = !model.x;
  if (!model.x) return;
  const picture = layOut(model, labels[k], place.clientWidth);
  const label = `Drawing of the ${place.id} with ${model.states} states`;
  const tell = ({ state, v }) => (state === undefined ? null : tellState(k, state, v));
  const view = await draw(place, modelSpec(picture.width, picture.height, picture, largest), label, tell);
  view.addEventListener("click", (_, item) => {
    if (!item || !item.datum || item.datum.state === undefined) return;
    const pair = split(selected);
    pair[k] = item.datum.state;
    if (known(pair[0] * m + pair[1]).held) select(pair[0] * m + pair[1]);
  });
  drawn[k] = { view, mark: (state, pair) => markState(k, view, picture, state, pair) };
}

function tellState(k, state, v) {
  const model = data.models[k];
  const lines = [nameOf(model, state)];
  const start = model.start.find(([other]) => other === state);
  if (start) lines.push(`start: ${percent(start[1])}`);
  if (model.stay[state] > 0) lines.push(`stays: ${percent(model.stay[state])}`);
  if (v !== null && v !== undefined) lines.push(`distance to the selected ${k ? "source" : "target"} state: ${short(v)}`);
  return lines;
}

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

function markState(k, view, picture, state, pair) {
  const [x, y] = split(selected);
  const held = !data.matrix.binned;
  const nodes = picture.nodes.map(node => ({ ...node, v: held ? data.pairs.value[k ? x * m + node.state : node.state * m + y] : null }));
  const sums = new Map();
  for (const { number, weight } of pair.cells || []) {
    const next = split(number)[k];
    if (next !== state) sums.set(next, (sums.get(next) || 0) + weight);
  }
  const moves = [...sums].map(([next, weight]) => arrow(picture, state, next, Math.min(1, weight)));
  view.data("nodes", nodes).data("moves", moves).data("here", [{ state, ...picture.at(state) }]).runAsync();
}

// ---------------------------------------------------------------- the walk

const walk = {
  path: [],
  goTo(number) {
    this.path.push(number);
    this.show();
  },
  show() {
    const steps = this.path.length - 1;
    const paid = this.path.reduce((sum, number, t) => sum + data.discount ** t * (known(number).cost || 0), 0);
    byId("walked").textContent = steps < 0 ? "" : `${steps} ${steps === 1 ? "move" : "moves"}; discounted cost along the way ${short(paid)}; distance where the walk began ${short(known(this.path[0]).value)}.`;
    byId("back").disabled = steps < 1;
    const trail = byId("trail");
    trail.replaceChildren();
    const first = Math.max(0, this.path.length - 6);
    this.path.slice(first).forEach((number, i) => {
      const button = element("button", pairName(number), element("li", undefined, trail));
      button.type = "button";
      if (first + i === steps) button.setAttribute("aria-current", "step");
      button.addEventListener("click", () => this.cut(first + i));
    });
  },
  cut(last) {
    this.path.length = last + 1;
    this.show();
    select(this.path[last], { remember: false });
  },
  restart() {
    this.path = [];
    select(drawnFrom(data.headline.law.map(([number, weight]) => ({ number, weight }))));
  },
};

// Mulberry32: the same walk every time the page is opened.
let seed = 1;
function random() {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

function drawnFrom(cells) {
  let left = random() * cells.reduce((sum, { weight }) => sum + weight, 0);
  for (const { number, weight } of cells) {
    left -= weight;
    if (left <= 0) return number;
  }
  return cells[cells.length - 1].number;
}

// Move both chains at once, by the coupling; false where it does not go on.
function step(options) {
  const cells = (known(selected).cells || []).filter(({ number }) => known(number).held);
  if (!cells.length) return false;
  select(drawnFrom(cells), options);
  return true;
}

let playing = null;
function play(on) {
  clearTimeout(playing);
  playing = null;
  byId("play").textContent = on ? "Pause" : "Play";
  byId("play").setAttribute("aria-pressed", String(on));
  if (!on) return;
  const next = () => {
    if (!step({ quiet: true })) return play(false);
    playing = setTimeout(next, 2400 / Number(byId("speed").value));
  };
  playing = setTimeout(next, 150);
}

byId("step").addEventListener("click", () => { play(false); step(); });
byId("back").addEventListener("click", () => { play(false); walk.cut(walk.path.length - 2); });
byId("restart").addEventListener("click", () => { play(false); walk.restart(); });
byId("play").addEventListener("click", () => play(playing === null));

// ---------------------------------------------------------------- the beginning

async function drawAll() {
  await Promise.all([drawMatrix(), drawModel(0), drawModel(1), drawConvergence()]);
  select(selected, { remember: false, quiet: true });
}

async function begin() {
  showTexts();
  fillChoices();
  showExplanation();
  byId("drawing-hint").textContent = data.matrix.binned
    ? "Orange: the selected state and its moves under the coupling; thicker is more likely. Starts have an outline."
    : "Orange: the selected state and its moves under the coupling; thicker is more likely. Starts have an outline. Other colours: the distance to the selected state of the other model. Click a state to select it.";
  byId("drawing-hint").hidden = !source.x && !target.x;
  walk.path = [selected];
  walk.show();
  await drawAll();
  document.documentElement.dataset.ready = "yes";
}

let width = innerWidth, waiting = null;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  clearTimeout(waiting);
  waiting = setTimeout(drawAll, 150);
});
dark.addEventListener("change", drawAll);
begin();
