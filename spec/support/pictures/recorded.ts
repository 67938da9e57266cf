import type { SubscriptionLog } from 'rxjs/internal/testing/SubscriptionLog';
import type { RunHelpers } from 'rxjs/testing';

/** A row of marbles that a test has used, in the order of the test. */
export interface MarbleRow {
  readonly kind: 'cold' | 'hot' | 'expected';
  readonly marbles: string;
  /** The rows of its subscriptions; null where the test checks none. */
  subscriptions: readonly string[] | null;
  /** The row of an early unsubscription. */
  readonly unsub?: string | undefined;
}

/** The helpers of a TestScheduler, and the rows that a test passes to them. */
export interface Recording {
  readonly helpers: RunHelpers;
  readonly rows: readonly MarbleRow[];
}

/** Begins the diagrams of a test whose peers first measure their line. No picture shows that time. */
export const MEASURING = '100ms ';

const shown = (marbles: string): string => (marbles.startsWith(MEASURING) ? marbles.slice(MEASURING.length) : marbles);

/** Records the rows of a test. */
export function recorded(helpers: RunHelpers): Recording {
  const rows: MarbleRow[] = [];
  const byLog = new Map<readonly SubscriptionLog[], MarbleRow>();
  const source = (kind: 'cold' | 'hot', marbles: string, log: readonly SubscriptionLog[]): void => {
    const row: MarbleRow = { kind, marbles: shown(marbles), subscriptions: null };
    rows.push(row);
    byLog.set(log, row);
  };
  return {
    rows,
    helpers: {
      ...helpers,
      cold: (marbles, values, error) => {
        const cold$ = helpers.cold(marbles, values, error);
        source('cold', marbles, cold$.subscriptions);
        return cold$;
      },
      hot: (marbles, values, error) => {
        const hot$ = helpers.hot(marbles, values, error);
        source('hot', marbles, hot$.subscriptions);
        return hot$;
      },
      expectObservable: (observable, unsub) => {
        const expectation = helpers.expectObservable(observable, unsub ?? null);
        return {
          ...expectation,
          toBe: (marbles, values, error) => {
            rows.push({
              kind: 'expected',
              marbles: shown(marbles),
              subscriptions: null,
              unsub: typeof unsub === 'string' ? shown(unsub) : undefined,
            });
            expectation.toBe(marbles, values, error);
          },
        };
      },
      expectSubscriptions: (log) => ({
        toBe: (marbles) => {
          const row = byLog.get(log);
          if (row !== undefined) row.subscriptions = [marbles].flat().map(shown);
          helpers.expectSubscriptions(log).toBe(marbles);
        },
      }),
    },
  };
}
