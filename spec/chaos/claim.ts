/** A claim of a scenario, and what it has observed. */
export interface Claim {
  readonly claim: string;
  readonly figure: string;
  readonly held: boolean;
}

export function claimed(claim: string, held: boolean, figure: string): Claim {
  return { claim, held, figure };
}

export function table(rows: readonly (Claim & { readonly scenario: string })[]): string {
  const cells = [
    ['scenario', 'claim', 'seen', 'held'],
    ...rows.map(({ scenario, claim, figure, held }) => [scenario, claim, figure, held ? 'yes' : 'NO']),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
