import type { Incoming } from './answer-host.js';

/** Why a stream was refused on a side that answers none. */
export const NO_HANDLER = 'no handler took this stream: this side has neither an onStream handler nor an operator such as respond()';

/** The streams of a remote on a side that answers none. */
export const REFUSE_ALL: Incoming = {
  receive(stream) {
    stream.refuse(NO_HANDLER);
  },
  socketOpened() {
    // No hello is expected.
  },
  complete() {
    // There are no subscribers.
  },
};
