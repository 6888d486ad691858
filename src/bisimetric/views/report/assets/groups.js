// An aggregation: one group of states is selected; both drawings and the lists show it and change it.

const [original, small] = data.models;
const groupName = k => quoted(data.groups[k].name);
const bySize = data.groups.map((_, k) => k).sort((a, b) => data.groups[b].size - data.groups[a].size || a - b);
let selected = bySize[0];
const drawn = [null, null];

// Colour-blind safe (Okabe and Ito), the largest groups first and then again; states that are alone are grey.
const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442"];
const ALONE = "#9aa0a6";
const colourOf = new Map(bySize.map((k, rank) => [k, data.groups[k].size > 1 ? PALETTE[rank % PALETTE.length] : ALONE]));

function select(k, { quiet = false } = {}) {
  selected = k;
  const group = data.groups[k];
  say("group-name", groupName(k));
  byId("choose-group").value = String(k);
  const facts = [["States", String(group.size)]];
  if (small.reward) {
    const [low, high] = [small.reward[k], small.reward_high ? small.reward_high[k] : small.reward[k]];
    facts.push(low === high ? ["Mean reward", short(low)] : ["Mean rewards by action", `${short(low)} to ${short(high)}`]);
  }
  if (data.policy) facts.push(["Action of the lifted policy", data.policy.names[k]]);
  list("group-facts", facts);
  const left = group.size - group.members.length;
  byId("members").textContent = group.members.map(state => quoted(nameOf(original, state))).join("  ·  ") + (left ? ` and ${left} more` : "");
  showSuccessors(k);
  for (const row of byId("groups").tBodies[0].rows) row.className = row.dataset.group === String(k) ? "current" : "";
  drawn[0]?.view.data("here", group.members.map(state => ({ state, ...drawn[0].picture.at(state) }))).runAsync();
  drawn[1]?.view.data("here", [{ state: k, ...drawn[1].picture.at(k) }]).runAsync();
  if (!quiet) byId("said").textContent = `Group ${groupName(k)}, ${group.size} states`;
}

function showSuccessors(k) {
  const body = byId("successors").tBodies[0];
  body.replaceChildren();
  if (!small.x) return say("successors-note", "The small model is too large to draw, so its moves are not in this file.");
  const [from, to, p] = small.moves;
  const next = from.flatMap((state, i) => (state === k ? [[to[i], p[i]]] : []));
  if (small.stay[k] > 0) next.push([k, small.stay[k]]);
  next.sort((a, b) => b[1] - a[1]);
  for (const [other, weight] of next) tableRow(body, linkButton(groupName(other), () => select(other)), [[percent(weight), weight]]);
  say("successors-note", data.policy ? "The mean over the available actions." : "");
}

async function drawOne(k, id, title) {
  const model = data.models[k];
  byId(`${id}-title`).textContent = `${title}: ${statesOf(model)}`;
  say(`${id}-note`, model.notes.filter(note => !data.policy || note !== model.key).join(" "));
  byId(id).hidden = !model.x;
  if (!model.x) return;
  const marked = data.policy ? { ...model, marks: policyMarks(k) } : model;
  const picture = layOut(marked, shortNames(allNames(model)), byId(id).clientWidth);
  const groupOf = state => (k ? state : data.map[state]);
  picture.nodes.forEach(node => { node.colour = colourOf.get(groupOf(node.state)); });
  const tell = ({ state }) => {
    if (state === undefined) return null;
    const group = groupOf(state);
    const action = data.policy ? [`action: ${data.policy.names[group]}`] : [];
    return [...stateFacts(model, state), k ? `${data.groups[group].size} states` : `group: ${groupName(group)}, ${data.groups[group].size} states`, ...action];
  };
  const view = await draw(byId(id), modelSpec(picture, { field: "colour", type: "nominal", scale: null }, { outlineWidth: 2.5, fontSize: data.policy ? 13 : 11 }), `Drawing of the ${title.toLowerCase()}, coloured by group`, tell);
  view.addEventListener("click", (_, item) => {
    if (item && item.datum && item.datum.state !== undefined) select(groupOf(item.datum.state));
  });
  drawn[k] = { view, picture };
}

// The action of every state under the lifted policy, instead of rewards and labels.
const policyMarks = k => Array.from({ length: data.models[k].states }, (_, state) => [state, data.policy.marks[k ? state : data.map[state]]]);

onStart(() => {
  const policy = data.policy ? " Marks are the actions of the small model's best policy, lifted to the given one." : "";
  byId("groups-hint").textContent = `States of one colour are merged; grey ones stay alone${bySize.filter(k => data.groups[k].size > 1).length > PALETTE.length ? ", and colours repeat" : ""}. Click a state to select its group, which has an orange outline.${policy}`;
  if (data.policy) {
    const head = element("th", "Action", byId("groups-head"));
    head.scope = "col";
  }
  const body = byId("groups").tBodies[0];
  for (const k of bySize) {
    const { size } = data.groups[k];
    const dot = element("span");
    dot.className = "dot";
    dot.style.background = colourOf.get(k);
    const first = element("span");
    first.append(dot, linkButton(groupName(k), () => select(k)));
    const row = tableRow(body, first, [[String(size), size / data.map.length], ...(data.policy ? [[data.policy.names[k]]] : [])]);
    row.dataset.group = String(k);
  }
  fillChoice("choose-group", data.groups.map(({ name }) => name), () => select(Number(byId("choose-group").value)));
});
onDraw(() => Promise.all([drawOne(0, "original", "Given model"), drawOne(1, "small", "Small model")]));
onDrawn(() => select(selected, { quiet: true }));
