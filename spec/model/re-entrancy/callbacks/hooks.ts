import { logger } from '../../../../src/logger.js';
import type { Frame, FrameDirection, Peer } from '../../../../src/index.js';
import type { Observable, TeardownLogic } from 'rxjs';
import type { Run } from '../scene.js';
import type { Callback } from './callback.js';

const frames = (where: string, on: FrameDirection, fits: (frame: Frame) => boolean): Callback => ({
  where: `a frame observer that sees ${where}`,
  throws: 'log',
  hang(scene, run) {
    scene.until(
      scene.near.onFrame((direction, frame) => {
        if (direction === on && fits(frame)) run({ stream: scene.streamOf(frame.stream) });
      }),
    );
  },
});

const ofType = (type: string) => (frame: Frame) => frame.type === type;
const ends = ({ type, end }: Frame): boolean => type === 'data' && end === true;

/** A hook. Its peer keeps it until it is removed. */
const hook = (where: string, hang: (peer: Peer, run: Run) => TeardownLogic, throws?: 'log'): Callback => ({
  where,
  ...(throws === undefined ? {} : { throws }),
  hang(scene, run) {
    scene.until(hang(scene.near, run));
  },
});

/** A subscriber of an Observable of the peer. */
const subscriber = (what: string, of: (peer: Peer) => Observable<unknown>): readonly Callback[] => [
  {
    where: `a subscriber of ${what}`,
    throws: 'rxjs',
    hang(scene, run) {
      let subscribed = false;
      const subscription = scene.read(what, of(scene.near), {
        next: () => {
          if (subscribed) run({ subscription });
        },
      });
      subscribed = true;
    },
  },
  {
    where: `a subscriber of ${what}, at the end`,
    throws: 'rxjs',
    hang(scene, run) {
      scene.read(what, of(scene.near), { complete: () => run() });
    },
  },
  {
    where: `the teardown of a subscriber of ${what}`,
    throws: 'log',
    hang(scene, run) {
      const subscription = scene.read(what, of(scene.near));
      subscription.add(() => run({ subscription }));
    },
  },
];

const then = (what: string, promise: (peer: Peer) => Promise<unknown>): Callback => ({
  where: `what follows ${what}`,
  hang(scene, run) {
    const done = (): void => run();
    scene.awaits(what, promise(scene.near).then(done, done));
  },
});

export const HOOKS: readonly Callback[] = [
  frames('an open leave', 'tx', ofType('open')),
  frames('data leave', 'tx', ofType('data')),
  frames('an end leave', 'tx', ends),
  frames('a reset leave', 'tx', ofType('reset')),
  frames('a ping leave', 'tx', ofType('ping')),
  frames('a pong leave', 'tx', ofType('pong')),
  frames('a goaway leave', 'tx', ofType('goaway')),
  frames('an open come', 'rx', ofType('open')),
  frames('data come', 'rx', ofType('data')),
  frames('an end come', 'rx', ends),
  frames('a reset come', 'rx', ofType('reset')),
  frames('a ping come', 'rx', ofType('ping')),
  frames('a pong come', 'rx', ofType('pong')),
  hook('an open interceptor', (peer, run) => peer.interceptOpen(() => run())),
  hook('a reply-headers interceptor', (peer, run) => peer.interceptReplyHeaders((_, stream) => run({ stream }))),
  hook('an incoming-headers interceptor', (peer, run) => peer.interceptIncomingHeaders((_, stream) => run({ stream })), 'log'),
  hook('a close handler', (peer, run) => peer.onClose(() => run()), 'log'),
  ...subscriber('status$', (peer) => peer.status$),
  ...subscriber('streams$', (peer) => peer.streams$),
  ...subscriber('frames$', (peer) => peer.frames$),
  ...subscriber('calls$', (peer) => peer.calls$),
  ...subscriber('closes$', (peer) => peer.closes$),
  then('opened', (peer) => peer.opened),
  then('closed', (peer) => peer.closed),
  then('a ping', (peer) => peer.ping()),
  {
    where: 'the logger',
    hang(scene, run) {
      const { level, debug } = logger;
      logger.level = 'debug';
      logger.debug = () => run();
      scene.until(() => Object.assign(logger, { level, debug }));
    },
  },
  {
    where: 'the error serializer',
    options: (run, role) => ({
      [role]: {
        errorSerializer() {
          run();
          return { message: 'it failed' };
        },
      },
    }),
    hang: () => undefined,
  },
];
