import { Component } from '@angular/core';
import { scan } from 'rxjs';
import { muxResource } from 'rxmux/angular';
import { client } from 'rxmux/contract';
import { api } from './api';
import type { Price } from './api';

type Table = ReadonlyMap<string, number>;

const merged = (table: Table, changes: readonly Price[]): Table =>
  new Map([...table, ...changes.map(({ symbol, cents }) => [symbol, cents] as const)]);

@Component({
  selector: 'app-prices',
  template: `
    <section>
      <h2>
        {{ table.value().size }} prices, <small id="prices">{{ table.status() }}</small>
      </h2>
      <ul class="prices">
        @for (row of table.value(); track row[0]) {
          <li>
            {{ row[0] }} <b>{{ (row[1] / 100).toFixed(2) }}</b>
          </li>
        }
      </ul>
    </section>
  `,
})
export class Prices {
  /** The whole table after each change. On a new socket it begins anew, with all prices. */
  protected readonly table = muxResource({
    stream: ({ peer }) =>
      client(peer, api)
        .prices()
        .pipe(scan(merged, new Map() as Table)),
    defaultValue: new Map() as Table,
  });
}
