// The two models as drawings, the walk of the coupled chains, and the player that continues it at random.

// ---------------------------------------------------------------- drawings

const drawn = [null, null];

async function drawModel(k) {
  const place = byId(["source", "target"][k]);
  const model = data.models[k];
  byId(`${place.id}-title`).textContent = `${k ? "Target" : "Source"}: ${data.names ? `${quoted(data.names[k])}, ` : ""}${statesOf(model)}`;
  say(`${place.id}-note`, model.notes.join(" "));
  place.hidden = !model.x;
  if (!model.x) return;
  const picture = layOut(model, labels[k], place.clientWidth);
  const label = `Drawing of the ${place.id} with ${statesOf(model)}`;
  const tell = ({ state }) => (state === undefined ? null : tellState(k, state));
  const view = await draw(place, modelSpec(picture, byDistance()), label, tell);
  view.addEventListener("click", (_, item) => {
    if (!item || !item.datum || item.datum.state === undefined) return;
    const pair = split(selected);
    pair[k] = item.datum.state;
    if (known(pair[0] * m + pair[1]).held) select(pair[0] * m + pair[1]);
  });
  drawn[k] = { view, mark: (state, pair) => markState(k, view, picture, state, pair) };
}

function tellState(k, state) {
  const lines = stateFacts(data.models[k], state);
  const v = distanceTo(k, state);
  if (v !== null && v !== undefined) lines.push(`distance to the selected ${k ? "source" : "target"} state: ${short(v)}`);
  return lines;
}

// From a state of one model to the selected state of the other; null where it is not in the file.
function distanceTo(k, state) {
  const [x, y] = split(selected);
  return data.matrix.binned ? null : data.pairs.value[k ? x * m + state : state * m + y];
}

const byDistance = () => ({
  condition: { test: "datum.known", field: "v", type: "quantitative", legend: null, scale: { ...scheme(), domain: [0, largest || 1] } },
  value: colours().soft,
});

function markState(k, view, picture, state, pair) {
  const nodes = picture.nodes.map(node => { // Vega-Lite colours null by its own rule, so a distance that is not known is 0 here
    const v = distanceTo(k, node.state);
    return { ...node, v: v ?? 0, known: v !== null };
  });
  const sums = new Map();
  for (const { number, weight } of pair.cells || []) {
    const next = split(number)[k];
    sums.set(next, Math.min(1, (sums.get(next) || 0) + weight));
  }
  const stays = sums.has(state) ? [loop(picture, state, sums.get(state))] : [];
  sums.delete(state);
  const moves = [...sums].map(([next, weight]) => arrow(picture, state, next, weight));
  view.data("nodes", nodes).data("moves", moves).data("stays", stays).data("here", [{ state, ...picture.at(state) }]).runAsync();
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
    select(drawnFrom(data.law.map(([number, weight]) => ({ number, weight }))));
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

onStart(() => {
  const meaning = "Orange: the selected state and its moves under the coupling; thicker is more likely. Rings are moves that stay. Starts have an outline.";
  const colours = " Other colours: the distance to the selected state of the other model. Click a state to select it.";
  say("drawing-hint", source.x || target.x ? meaning + (data.matrix.binned ? "" : colours) : "");
  walk.path = [selected];
  walk.show();
});
onDraw(() => Promise.all([drawModel(0), drawModel(1)]));
