import { bufferTime, concat, defer, finalize, from, map, ReplaySubject, Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import { defaultLabel, withoutContent } from 'rxmux/inspect';
import type { InspectedPeer, Inspection, InspectorBatch, InspectorFeed, InspectorLine, Line } from 'rxmux/inspect';

/** A feed sends its lines this often, in ms. */
const EVERY_MS = 50;
/** The most lines of the last ten minutes that a later viewer sees. */
const HISTORY_LINES = 100_000;
const HISTORY_MS = 600_000;

/** The frames that a proxy passes on, under inspection. */
export class Tapped implements Inspection {
  readonly #live$ = new Subject<InspectorLine>();
  readonly #history$ = new ReplaySubject<InspectorLine>(HISTORY_LINES, HISTORY_MS);
  readonly #peers = new Map<number, InspectedPeer>();
  readonly #left$ = new Subject<InspectedPeer>();

  /**
   * @param url the address of the proxy, over which a copied command is inspected too
   * @param now the clock of the lines, in ms
   */
  constructor(
    private readonly url: string,
    private readonly now: () => number,
  ) {}

  get lines(): readonly InspectorLine[] {
    const lines: InspectorLine[] = [];
    this.#history$.subscribe((line) => lines.push(line)).unsubscribe();
    return lines;
  }

  readonly feed: InspectorFeed = (payloads$) => defer(() => this.#feed(payloads$));

  add(line: Line, bytes: number): void {
    const name = nameOf(line);
    const shown: InspectorLine = name === '' ? { ...line, b: bytes } : { ...line, b: bytes, n: name };
    this.#history$.next(withoutContent(shown));
    this.#live$.next(shown);
  }

  opened(c: number, codec: string): void {
    this.#peers.set(c, {
      c,
      name: `connection ${c}`,
      isDialer: true,
      state: 'open',
      reconnects: 0,
      rttMs: null,
      bufferedAmount: 0,
      codec,
    });
  }

  closed(c: number): void {
    const peer = this.#peers.get(c);
    if (peer === undefined) return;
    this.#peers.delete(c);
    this.#left$.next({ ...peer, state: 'closed' });
  }

  close(): void {
    this.#history$.complete();
    this.#live$.complete();
  }

  #feed(payloads$: Observable<boolean>): Observable<InspectorBatch> {
    let hasPayloads = false;
    const asking = payloads$.subscribe((asked) => (hasPayloads = asked));
    let left: InspectedPeer[] = [];
    asking.add(this.#left$.subscribe((peer) => left.push(peer)));
    const live$ = this.#live$.pipe(map((line) => (hasPayloads ? line : withoutContent(line))));
    return concat(from(this.lines), live$).pipe(
      bufferTime(EVERY_MS),
      map((lines) => {
        const peers = [...this.#peers.values(), ...left];
        left = [];
        return { at: this.now(), lines, dropped: 0, peers, url: this.url };
      }),
      finalize(() => {
        asking.unsubscribe();
      }),
    );
  }
}

const LONGEST_LABEL = 100;

/** Returns the name of the stream that a line opens; empty for none. It is a copy, because a slice would keep the whole message in the history. */
export function nameOf({ f }: Line): string {
  return f?.['type'] === 'open' ? Buffer.from(defaultLabel(f['payload']).slice(0, LONGEST_LABEL)).toString() : '';
}
