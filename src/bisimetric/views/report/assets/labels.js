// Names beside points: each where it covers neither another name nor a point, or else not at all; fewer, not smaller.

const LETTER = 6.2, LINE = 14; // pixels of a letter and of a line, roughly
const LONGEST_LABEL = 120; // pixels

// points: [{x, y, name, …}] in pixels, the most important first; radius of the points; width and height of the picture;
// other round things that names must not cover. Returns [{x, y, text, …}] with the middle of each text.
function placedLabels(points, radius, { width, height }, { others = [], otherRadius = 0 } = {}) {
  const around = r => ({ x, y }) => [x - r, y - r, x + r, y + r];
  const taken = [...points.map(around(radius)), ...others.map(around(otherRadius))];
  const free = box => box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height
    && taken.every(other => box[2] <= other[0] || box[0] >= other[2] || box[3] <= other[1] || box[1] >= other[3]);
  const placed = [];
  for (const { x, y, name, ...known } of points) {
    if (!name) continue;
    const long = Math.min(LONGEST_LABEL, LETTER * name.length + 4);
    const beside = radius + 2 + long / 2, over = radius + LINE / 2;
    for (const [dx, dy] of [[beside, 0], [-beside, 0], [0, -over], [0, over], [beside, -over], [-beside, -over], [beside, over], [-beside, over]]) {
      const box = [x + dx - long / 2, y + dy - LINE / 2, x + dx + long / 2, y + dy + LINE / 2];
      if (!free(box)) continue;
      taken.push(box);
      placed.push({ ...known, x: x + dx, y: y + dy, text: name });
      break;
    }
  }
  return placed;
}

// Two layers that write the texts of a dataset, which react as the points below them: a halo in the colour of the card, and the letters.
function labelLayers(name, x, y, fontSize = 11) {
  const { ink, card } = colours();
  const text = { type: "text", fontSize, limit: LONGEST_LABEL, color: ink, tooltip: true, cursor: "pointer" };
  const encoding = { x, y, text: { field: "text" } };
  return [{ ...text, stroke: card, strokeWidth: 3 }, text].map(mark => ({ data: { name }, mark, encoding }));
}
