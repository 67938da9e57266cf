import { TestBed } from '@angular/core/testing';
import { TestScheduler } from 'rxjs/testing';
import { MUX } from 'rxmux/angular';
import { fakePeer } from 'rxmux/testing';
import { api } from './api';
import { Prices } from './prices';

const all = [
  { symbol: 'A', cents: 100 },
  { symbol: 'B', cents: 200 },
];
const change = [{ symbol: 'B', cents: 250 }];

/** The text of the table when the row of marbles is over. */
function shown(row: string): string {
  let text = '';
  new TestScheduler(() => undefined).run((helpers) => {
    const { peer } = fakePeer(helpers, api, { prices: [row, { a: all, c: change }] });
    TestBed.configureTestingModule({ providers: [{ provide: MUX, useValue: peer }] });
    const fixture = TestBed.createComponent(Prices);
    fixture.detectChanges();
    helpers.flush();
    fixture.detectChanges();
    text = (fixture.nativeElement as HTMLElement).innerText ?? fixture.nativeElement.textContent;
  });
  return text.replace(/\s+/g, ' ').trim();
}

describe('Prices', () => {
  it('The table shows all prices', () => {
    expect(shown('--a')).toBe('2 prices, resolved A 1.00 B 2.00');
  });

  it('The table shows a price that changes', () => {
    expect(shown('--a-c')).toBe('2 prices, resolved A 1.00 B 2.50');
  });

  it('The table keeps its prices when the stream fails', () => {
    expect(shown('--a-#')).toBe('2 prices, error A 1.00 B 2.00');
  });
});
