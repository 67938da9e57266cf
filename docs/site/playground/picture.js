const ROWS = [
  ['page', 'page sends'],
  ['server', 'server sends'],
  ['gets', 'page gets'],
];
const ROW_HEIGHT = 56;
const LINE_AT = 38;
const RADIUS = 12;
/** Half of the height of marks. */
const ARM = 6;
const MARGIN = 16;
const COLOURS = ['#0969da', '#bf3989', '#1a7f37', '#8250df', '#9a6700', '#0b7285', '#bc4c00', '#57606a'];
/** The names of frames without a value. */
const SAID = { open: 'open', reset: 'cancel' };

/** Draws what the page sent, what the server sent, and what the page got until now, as an SVG as wide as its place. */
export function picture(marbles, totalMs, width) {
  const x = ({ at }) => MARGIN + (at / totalMs) * (width - 2 * MARGIN);
  const rows = ROWS.map(([row, name], nth) => rowOf(marbles, marbles[row], name, LINE_AT + nth * ROW_HEIGHT, x));
  const height = ROWS.length * ROW_HEIGHT;
  const said = ROWS.map(([row, name]) => `${name}: ${marbles[row].map(nameOf).join(', ')}`).join('. ');
  return `<svg width="${width}" height="${height}" role="img" aria-label="${said}">${rows.join('')}</svg>`;
}

function rowOf({ now }, marbles, name, y, x) {
  const line = `<line x1="${MARGIN}" x2="${x({ at: now })}" y1="${y}" y2="${y}"/>`;
  return `<text class="name" x="0" y="${y - 20}">${name}</text>${line}${marbles.map((marble) => marbleAt(marble, x(marble), y)).join('')}`;
}

function marbleAt({ type, text }, x, y) {
  if (type === 'open') return `<circle class="open" cx="${x}" cy="${y}" r="${ARM}"/>`;
  if (type === 'reset')
    return `<path class="reset" d="M${x - ARM} ${y - ARM}l${2 * ARM} ${2 * ARM}m0 ${-2 * ARM}l${-2 * ARM} ${2 * ARM}"/>${label(SAID.reset, x, y)}`;
  const colour = COLOURS[Number(text) % COLOURS.length];
  return `<circle cx="${x}" cy="${y}" r="${RADIUS}" fill="${colour}"/><text class="value" x="${x}" y="${y + 5}">${text}</text>`;
}

function label(text, x, y) {
  return `<text class="label" x="${x}" y="${y - ARM - 6}">${text}</text>`;
}

function nameOf({ type, text }) {
  return SAID[type] ?? text;
}
