// The table of docs/guide/runtimes.md, which the runs of the runtimes write: a column for each.

/** The heads of the columns. */
export const COLUMNS = { bun: 'Bun', deno: 'Deno', workerd: 'workerd', crossws: 'crossws' };

const HEADS = ['a peer of', ...Object.values(COLUMNS)];

/**
 * Returns the page with another column in its table.
 *
 * @param column the cell of each row, by the row's title
 */
export function writeColumn(page, head, column) {
  const lines = page.split('\n');
  const first = lines.findIndex((line) => cellsOf(line)[0] === HEADS[0]);
  if (first === -1) throw new Error(`expected a table whose first head is '${HEADS[0]}'`);
  const end = lines.findIndex((line, at) => at > first && !line.startsWith('|'));
  const old = new Map(lines.slice(first + 2, end).map((line) => [cellsOf(line)[0], cellsOf(line).slice(1)]));
  const at = HEADS.indexOf(head) - 1;
  const rows = Object.entries(column).map(([title, cell]) => [
    title,
    ...HEADS.slice(1).map((_, other) => (other === at ? cell : (old.get(title)?.[other] ?? ''))),
  ]);
  const table = [HEADS, HEADS.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [...lines.slice(0, first), ...table, ...lines.slice(end)].join('\n');
}

function cellsOf(line) {
  return line.startsWith('|')
    ? line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim())
    : [];
}
