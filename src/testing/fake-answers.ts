import { finalize, tap } from 'rxjs';
import type { Subscription } from 'rxjs';
import { respond } from '../peer/operators/respond.js';
import type { PeerOptions } from '../peer/options.js';
import type { Stream } from '../stream/stream.js';
import { ResetCode } from '../wire/codes.js';
import type { FakeCall, FakePeer } from './fake-peer.js';
import { createPair } from './pair.js';

/** The rows of a fake peer. */
export interface FakeRows {
  readonly answers: FakePeer['answers'];
  /** The row that answers calls of a name. */
  readonly rowOf: (name: string) => string | undefined;
  readonly nameOf: (payload: unknown) => string;
  /** The payload as {@link FakeCall} shows it. */
  readonly payloadOf: (payload: unknown) => unknown;
}

/** Makes a peer whose other end answers from rows. */
export function fakeAnswers({ answers, rowOf, nameOf, payloadOf }: FakeRows, options: PeerOptions): FakePeer {
  // The test asks for each `#`, so no log shows it.
  const { dialer, acceptor } = createPair({
    dialer: options,
    acceptor: { onError: () => undefined },
    ...(options.codec === undefined ? {} : { codec: options.codec }),
  });
  const calls: FakeCall[] = [];
  acceptor.streams$
    .pipe(
      respond((payload, stream) => {
        const called = nameOf(payload);
        const row = rowOf(called);
        const { sent, reading } = recorded(stream);
        calls.push(callOf(row ?? called, payloadOf(payload), sent, stream));
        // A reader that stays would keep the upload alive behind its answer.
        if (row !== undefined) return answers[row]?.pipe(finalize(() => reading.unsubscribe()));
        stream.reset(ResetCode.REFUSED, `expected one of ${Object.keys(answers).join(', ')}, got a call named '${called}'`);
        return undefined;
      }),
    )
    .subscribe();
  return { peer: dialer, answers, calls };
}

/** Records the values that the program sends, until the reading ends. */
function recorded(stream: Stream): { readonly sent: readonly unknown[]; readonly reading: Subscription } {
  const sent: unknown[] = [];
  return { sent, reading: stream.pipe(tap((value) => sent.push(value))).subscribe({ error: () => undefined }) };
}

/** Returns the record of a call. A test compares it with a literal object, so it has the call's own data and nothing else. */
function callOf(row: string, payload: unknown, sent: readonly unknown[], stream: Stream): FakeCall {
  return {
    row,
    payload,
    headers: stream.headers,
    sent,
    get cancelled() {
      const { cause } = stream;
      return cause?.how === 'reset' && cause.by === 'remote';
    },
  };
}
