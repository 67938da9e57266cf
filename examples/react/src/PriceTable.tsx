import { scan } from 'rxjs';
import { useStream } from 'rxmux/react';
import type { Price } from './api.ts';
import { calls } from './mux.ts';

type Table = ReadonlyMap<string, number>;

/** The whole table after each change. On a new socket it begins anew, with all prices. */
function tables() {
  const merge = (table: Table, changes: readonly Price[]): Table =>
    new Map([...table, ...changes.map(({ symbol, cents }) => [symbol, cents] as const)]);
  return calls.prices(undefined, { retry: 'safe' }).pipe(scan(merge, new Map()));
}

export function PriceTable() {
  const { value = new Map<string, number>(), status } = useStream(tables);
  return (
    <section>
      <h2>
        {value.size} prices, <small id="prices">{status}</small>
      </h2>
      <ul className="prices">
        {[...value].map(([symbol, cents]) => (
          <li key={symbol}>
            {symbol} <b>{(cents / 100).toFixed(2)}</b>
          </li>
        ))}
      </ul>
    </section>
  );
}
