import { JsonCodec } from '../../../../src/index.js';
import type { Stream } from '../../../../src/index.js';
import type { Scene } from '../scene.js';
import type { Callback } from './callback.js';

type Make = (inside: () => void) => object;

type Method = 'encode' | 'encodeWith' | 'decode' | 'encodePayload' | 'decodePayload';

/** A user's codec that acts in one of its methods. */
const codec = (method: Method, throws?: Callback['throws']): Callback => ({
  where: `${method} of a codec`,
  ...(throws === undefined ? {} : { throws }),
  options(run, role) {
    const made = new JsonCodec();
    const original = made[method].bind(made) as (...given: readonly unknown[]) => unknown;
    Object.assign(made, {
      [method]: (...given: readonly unknown[]) => {
        run();
        return original(...given);
      },
    });
    return { [role]: { codec: made } };
  },
  hang(scene) {
    // Large enough to be cut and joined.
    scene.attempt(() => scene.main.send('m'.repeat(100_000)));
    scene.attempt(() => scene.far.request('l'.repeat(100_000), { timeoutMs: 1_000 }));
  },
});

/** Acts while the library reads a value that the near peer sends. */
const value = (where: string, make: Make, send: (scene: Scene, given: object) => unknown): Callback => ({
  where,
  hang(scene, run) {
    scene.attempt(() =>
      send(
        scene,
        make(() => run()),
      ),
    );
  },
});

const json = (inside: () => void) => ({
  toJSON() {
    inside();
    return 'as JSON';
  },
});
const getter = (inside: () => void) => ({
  get name() {
    inside();
    return 'a name';
  },
});
/** Acts while the library reads an answer of the near peer. */
const answer = (where: string, make: Make, reply: (stream: Stream, given: object) => unknown): Callback => ({
  where,
  hang(scene, run) {
    scene.answer('ask', (stream) => {
      scene.attempt(() =>
        reply(
          stream,
          make(() => run({ stream })),
        ),
      );
    });
  },
});

export const VALUES: readonly Callback[] = [
  codec('encode'),
  codec('encodeWith', 'log'),
  // The line between the peers decodes with the dialer's codec, for its listeners.
  { ...codec('decode'), role: 'acceptor', fatal: true },
  codec('encodePayload'),
  codec('decodePayload'),
  value('toJSON() of the payload of a request', json, ({ near }, given) => near.request(given, { timeoutMs: 1_000 })),
  value(
    'toJSON() of the payload of an open',
    json,
    (scene, given) => void scene.read('a call', scene.near.open$(given, { timeoutMs: 1_000 })),
  ),
  value('toJSON() of a value that is sent', json, ({ main }, given) => main.send(given)),
  value('a getter of the headers of a call', getter, ({ near }, headers) => near.request('echo', { headers })),
  value(
    'toJSON() in the headers of a call',
    (inside) => ({ of: json(inside) }),
    ({ near }, headers) => near.request('echo', { headers }),
  ),
  value('toJSON() of the payload of a reset', json, ({ main }, given) => main.reset(300, 'no', given)),
  answer('toJSON() of an answer', json, (stream, given) => stream.reply(given)),
  answer('a getter of the headers of an answer', getter, (stream, headers) => stream.reply('done', { headers })),
  answer('a getter of the trailers of an answer', getter, (stream, trailers) => stream.reply('done', { trailers })),
  answer('a getter of the trailers of a handler that settles', getter, (stream, trailers) => {
    stream.setTrailers(trailers);
  }),
  {
    where: 'the message of what a handler throws',
    hang(scene, run) {
      class Failure extends Error {
        override get message(): string {
          run();
          return 'it failed';
        }
      }
      scene.answer('ask', () => {
        throw new Failure();
      });
    },
  },
];
