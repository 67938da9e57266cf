import { ResetCode } from '../../../src/index.js';
import type { Stream } from '../../../src/index.js';
import type { Scene, Told } from './scene.js';

/** An act of the user's code within a callback. */
export interface Action {
  readonly does: string;
  readonly act: (scene: Scene, told: Told) => void;
  /** Whether the act ends the connection. */
  readonly ends?: true;
  /** How often it acts when the callback is called again. Default: once. */
  readonly times?: number;
  /** Whether the callback throws. */
  readonly throws?: true;
}

/** The message of the error that the throwing action throws. */
export const THROWN = 'thrown inside of a callback';

const streamOf = (scene: Scene, { stream }: Told): Stream => stream ?? scene.main;

const QUIET = { error: () => undefined };

/** An act that may be refused, because the stream or the peer may have ended. */
const trying =
  (act: (scene: Scene, stream: Stream, told: Told) => unknown): Action['act'] =>
  (scene, told) => {
    scene.attempt(() => act(scene, streamOf(scene, told), told));
  };

export const ACTIONS: readonly Action[] = [
  { does: 'closes its peer', ends: true, act: trying(({ near }) => near.close()) },
  { does: 'closes its peer with a drain', ends: true, act: trying(({ near }) => near.close({ drainMs: 1_000 })) },
  { does: 'closes its peer with an error', ends: true, act: trying(({ near }) => near.close({ code: ResetCode.INTERNAL_ERROR })) },
  { does: 'closes the other peer', ends: true, act: trying(({ far }) => far.close()) },
  { does: 'closes the other peer with a drain', ends: true, act: trying(({ far }) => far.close({ drainMs: 1_000 })) },
  { does: 'closes both peers', ends: true, act: trying(({ near, far }) => Promise.all([near.close(), far.close()])) },
  {
    does: 'loses the socket',
    ends: true,
    act: trying(({ link }) => {
      link.cut();
    }),
  },
  { does: 'makes a request', act: trying(({ near }) => near.request('echo')) },
  { does: 'makes a request by the other peer', act: trying(({ far }) => far.request('echo')) },
  {
    does: 'opens a stream and leaves it',
    act: trying(({ near }) => {
      near.open$('hold').subscribe(QUIET).unsubscribe();
    }),
  },
  {
    does: 'subscribes to a call, and reads it to its end',
    act: trying((scene) => {
      scene.read('rows of an action', scene.near.open$('rows'));
    }),
  },
  { does: 'cancels its stream', act: trying((_, stream) => stream.reset()) },
  { does: 'resets its stream with a code of its own', act: trying((_, stream) => stream.reset(300, 'enough', { of: 'it' })) },
  { does: 'writes to its stream', act: trying((_, stream) => stream.send('more')) },
  { does: 'writes much to its stream', act: trying((_, stream) => stream.send('m'.repeat(300_000))) },
  { does: 'ends its stream', act: trying((_, stream) => stream.end()) },
  {
    does: 'writes to its stream, ends it and cancels it',
    act: trying((_, stream) => {
      void stream.send('more');
      void stream.end();
      stream.reset();
    }),
  },
  {
    does: 'reads its stream, and stops',
    act: trying((_, stream) => {
      stream.subscribe(QUIET).unsubscribe();
    }),
  },
  {
    does: 'unsubscribes',
    act: trying(({ mainReading }, _, { subscription = mainReading }) => {
      subscription.unsubscribe();
    }),
  },
  {
    does: 'aborts a call',
    act: trying(({ abort }) => {
      abort.abort();
    }),
  },
  { does: 'pings', act: trying(({ near }) => near.ping()) },
  {
    does: 'dials again',
    act: trying(({ near }) => {
      near.reconnectNow();
    }),
  },
  { does: 'notifies, three times over', times: 3, act: trying(({ near }) => near.notify('echo')) },
  { does: 'makes a request, three times over', times: 3, act: trying(({ near }) => near.request('echo')) },
  {
    does: 'throws',
    throws: true,
    act: () => {
      throw new Error(THROWN);
    },
  },
];
