import { interval, map, of, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import { ResetCode } from '../../src/index.js';
import type { Peer, Stream } from '../../src/index.js';
import { createPair } from '../../src/testing.js';

/** An entry that the examples log. */
export interface Entry {
  readonly seq: number;
}

/** Objects that the short examples of a page use and do not make. */
export interface Reader {
  readonly peer: Peer;
  readonly acceptor: Peer;
  readonly term$: Observable<string>;
  readonly token: () => string;
  readonly append: (entry: Entry) => void;
  readonly userOf: (cookie: string | undefined) => { readonly name: string } | undefined;
}

interface Job {
  readonly op: string;
  readonly term: string;
  readonly seat: string;
}

const WORDS = ['ananas', 'apple', 'banana'];

/** A reader whose peer is connected to an acceptor that answers as the examples say. */
export function newReader(): Reader {
  const { dialer: peer, acceptor } = createPair();
  let isBusy = true;
  acceptor.onStream(async ({ op, term, seat }: Job, stream: Stream) => {
    if (op === 'search') return stream.reply(WORDS.filter((word) => word.startsWith(term)));
    if (op === 'ticks') return stream.sendAll(interval(1));
    if (op === 'squares') return stream.sendAll(stream.pipe(map((n) => Number(n) ** 2)));
    if (op === 'upload') return join(stream);
    if (!isBusy) return stream.reply(`booked ${seat}`);
    isBusy = false;
    stream.reset(ResetCode.REFUSED, 'busy');
    return undefined;
  });
  return { peer, acceptor, term$: of('b', 'a'), token: () => 'secret', append: () => undefined, userOf: () => undefined };
}

function join(stream: Stream): Promise<unknown> {
  stream.pipe(toArray()).subscribe((chunks) => {
    void stream.reply(chunks.length, { trailers: { joined: chunks.join('') } });
  });
  return stream.closed;
}
