/** A longer name is not compared: a remote chooses it. */
const LONGEST_NAME = 64;
/** How many near names an error lists. */
const MOST_NEAR = 3;

/** The names that differ from `name` by a third of its letters at most, the nearest first. */
export function nearNames(name: string, names: readonly string[]): string[] {
  if (name.length > LONGEST_NAME) return [];
  const most = Math.max(1, Math.floor(name.length / 3));
  return names
    .filter((other) => Math.abs(other.length - name.length) <= most)
    .map((other) => ({ other, distance: distanceOf(name, other) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MOST_NEAR)
    .map(({ other }) => other);
}

/** Counts the letters to insert, delete, replace, or swap with their neighbour. */
function distanceOf(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = cell(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwap ? cell(beforeLast, column - 2) + 1 : Infinity;
      current.push(Math.min(cell(last, column) + 1, cell(current, column - 1) + 1, replaced, swapped));
    }
    [beforeLast, last] = [last, current];
  }
  return cell(last, b.length);
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}

/** Returns the end of a sentence that names near names; empty without one. */
export function didYouMean(near: readonly string[]): string {
  return near.length === 0 ? '' : `; did you mean ${near.map((other) => `'${other}'`).join(' or ')}?`;
}
