import { expect } from '@jest/globals';
import type { StreamHandler } from '../../../src/peer/hooks.js';
import type { PeerOptions } from '../../../src/peer/options.js';
import { createPair } from '../../../src/testing.js';
import { framesOf } from './frames.js';
import type { Envelope } from './frames.js';
import { settled } from './outcome.js';
import type { Settled } from './outcome.js';
import type { PeerTime } from './time.js';

/** The outcome of one request. */
export interface Answered {
  /** The frames that the acceptor sent. */
  readonly sent: readonly Envelope[];
  readonly outcome: Settled;
}

/** Sends a request to an acceptor with this handler and these options. Then sends a second request, which must succeed. */
export type Asking = (handler: StreamHandler, options?: PeerOptions) => Promise<Answered>;

export const askingIn =
  (time: PeerTime): Asking =>
  async (handler, options = {}) => {
    const { dialer, acceptor } = createPair({ acceptor: options, ...(options.codec === undefined ? {} : { codec: options.codec }) });
    acceptor.onStream(handler);
    const sent = framesOf(acceptor);
    const outcome = settled(dialer.request('p'));
    await time.advance();
    acceptor.onStream((payload, stream) => stream.reply(payload));
    const next = dialer.request('the connection lives');
    await time.advance();
    expect(await next).toBe('the connection lives');
    return { sent: sent.slice(0, -1), outcome: await outcome };
  };

/** A handler that throws `error`. */
export const throwing =
  (thrown: unknown): StreamHandler =>
  () => {
    throw thrown;
  };

/** A handler that replies `'answer'`. */
export const answers: StreamHandler = (_, stream) => stream.reply('answer');

/** A handler that resets its stream with 300. */
export const refuses: StreamHandler = (_, stream) => {
  stream.reset(300, 'no');
};
