import { noop } from 'rxjs';
import { log } from '../logger.js';
import { endAnswer, failAnswer } from '../stream/answer.js';
import { messageOf } from '../stream/end.js';
import { HELLO_HEADER, RENEWS, isMarked } from '../stream/hello-mark.js';
import { copyMetadata } from '../stream/metadata.js';
import type { StreamCore } from '../stream/stream-core.js';
import { checkFunction, isThenable } from '../util/check.js';
import type { DialContext } from './dial/dialer.js';
import { checkHello, sayHello } from './hello.js';
import type { Hello } from './hello.js';
import { Peer } from './peer.js';

/**
 * Makes a `hello` that also answers a server which asks for a fresh one, on the same socket (see `sessionEnds`). Calls and streams go on
 * meanwhile. The context of a fresh hello has `expired: true`.
 *
 * If `hello` fails then, the log has a line, and the server ends the connection when the session ends.
 *
 * @param hello makes the hello of each socket, and each fresh one
 *
 * @example
 * ```ts
 * connect('wss://example.org/mux', {
 *   reconnect: true,
 *   hello: renewing(async ({ expired }) => ({ payload: { token: await tokens.get({ fresh: expired }) } })),
 * });
 * ```
 */
export function renewing(hello: (context: DialContext) => Hello | Promise<Hello>): (context: DialContext) => Hello | Promise<Hello> {
  checkFunction('renewing', hello);
  /** The context of each peer's last dial. A peer that is here has its gate. */
  const contexts = new WeakMap<Peer, DialContext>();

  const marked = (made: Hello, context: DialContext): Hello => {
    checkHello(made);
    return {
      ...made,
      headers: { ...copyMetadata(made.headers), [HELLO_HEADER]: RENEWS },
      onReply: (reply, stream) => {
        listen(stream.peer, context);
        made.onReply?.(reply, stream);
      },
    };
  };

  /** Answers the questions of a server ahead of the handlers for its streams, as a server keeps hellos from its own. */
  function listen(peer: Peer, context: DialContext): void {
    const core = Peer.core(peer);
    const isKnown = contexts.has(peer);
    contexts.set(peer, context);
    if (isKnown || core === null) return;
    core.incoming.gate = {
      isOpen: true,
      admits(stream) {
        if (!isMarked(stream)) return true;
        answer(stream, { ...(contexts.get(peer) ?? context), expired: true, signal: stream.facade.signal });
        return false;
      },
      socketOpened: noop,
      close: noop,
    };
  }

  /** Answers a server that asks for a fresh hello: sends the hello, and ends the answer when the server has accepted the hello. */
  function answer(question: StreamCore, context: DialContext): void {
    question.markTaken();
    renew(question, context).then(
      () => {
        endAnswer(question);
      },
      (error: unknown) => {
        // A session that has ended meanwhile has ended the question.
        if (!question.sealed) failAnswer(question, error);
        log('warn', `${question.label}: no fresh hello was accepted: ${messageOf(error)}`);
      },
    );
  }

  async function renew({ owner, carrier }: StreamCore, context: DialContext): Promise<void> {
    const made = marked(await hello(context), context);
    const core = Peer.core(owner.peer);
    const connection = core?.openConnection ?? null;
    // Another socket may be open by now, which has asked for nothing.
    if (core === null || connection === null || connection !== carrier) throw new Error('the connection takes no fresh hello any more');
    await new Promise<void>((accepted, failed) => {
      // The server, which asks, bounds this hello by its own `helloTimeoutMs`, and by the end of the session.
      sayHello(core, connection, made, 0, accepted, failed);
    });
  }

  return (context) => {
    const made = hello(context);
    return isThenable(made) ? Promise.resolve(made).then((later) => marked(later, context)) : marked(made, context);
  };
}
