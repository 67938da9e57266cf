import { describe, expect, it } from '@jest/globals';
import { EMPTY, merge, of } from 'rxjs';
import type { Observable, ObservableInput } from 'rxjs';
import { respond } from '../src/index.js';
import type { Peer } from '../src/index.js';
import { answerTopic, CursorLost, memoryLog, topic } from '../src/topics.js';
import type { Log, TopicItem } from '../src/topics.js';
import { dialed } from './support/dialing.js';
import type { Dialed } from './support/dialing.js';
import { marbles } from './support/virtual.js';

interface Row {
  readonly does: string;
  /** Messages that are published to the log. */
  readonly published: string;
  /** When the socket is lost. */
  readonly cut?: string;
  /** When the server sends its goaway; the digit is the time in ms that it leaves its streams. */
  readonly goaway?: string;
  /** When the server gets a new log, as a process that has restarted. */
  readonly restart?: string;
  readonly keep?: number;
  readonly onLost?: (resetTo: string) => ObservableInput<string>;
  readonly expected: string;
  readonly unsub?: string;
  readonly error?: unknown;
  readonly latencyMs?: number;
  /** The streams of the topic, as the server answers them. */
  readonly streams: string[];
}

interface TopicServer extends Dialed {
  /** Begins a new log, as a restarted process does. */
  restart(): void;
  publish(letter: string): void;
}

/**
 * A server of one topic, whose answers subscribe to `streams$` too. The operator makes them push: the promises of an iterator do not run in
 * virtual time.
 */
function topicServer(streams$: Observable<never>, { keep, latencyMs }: Row): TopicServer {
  let log: Log<string> = memoryLog({ keep });
  const answer = (since: string | null): Observable<unknown> => merge(answerTopic(log, since), streams$);
  const made = dialed((peer) => peer.streams$.pipe(respond(answer)).subscribe(), { latencyMs });
  return {
    ...made,
    restart: () => {
      log = memoryLog({ keep });
    },
    publish: (letter) => void log.publish(letter),
  };
}

const follow = (peer: Peer, onLost: Row['onLost']): Observable<string> =>
  topic<string>(peer, (since) => peer.open$<TopicItem<string>>(since, { retry: 'safe' }), { onLost });

describe('topic', () => {
  it.each<Row>([
    {
      does: 'emits the values of new messages',
      published: 'a---b-c',
      streams: [' ^------'],
      expected: ' ----b-c',
    },
    {
      does: 'goes on after its last message when the socket is lost',
      published: '-a--b--c---d',
      cut: '      -----x--x---',
      streams: [' ^----!', '-----^--!', '--------^---'],
      expected: ' -a--b--c---d',
    },
    {
      does: 'gets the messages after a loss that came before its first one',
      published: '----b----c-',
      cut: '      --x--------',
      streams: [' ^-!', '--^--------'],
      expected: ' ----b----c-',
    },
    {
      does: 'gets the messages that were published while it had no socket',
      published: '------a---bc----d--',
      cut: '      ---------x---------',
      latencyMs: 2,
      streams: [' --^------!', '-----------^-------'],
      expected: ' --------a----(bc)-d',
    },
    {
      does: "moves after the server's goaway",
      published: '-a--b--c---d',
      goaway: '   ---5--------',
      streams: [' ^--!', '---^--------'],
      expected: ' -a--b--c---d',
    },
    {
      does: 'errors where messages are no longer kept',
      published: '------a---bc----d--',
      keep: 1,
      cut: '      ---------x---------',
      latencyMs: 2,
      streams: [' --^------!'],
      expected: ' --------a----#',
      error: expect.any(CursorLost),
    },
    {
      does: 'errors where another process has the log',
      published: '-a---b',
      restart: '  --x---',
      cut: '      ---x--',
      streams: [' ^--!'],
      expected: ' -a-#',
      error: expect.any(CursorLost),
    },
    {
      does: 'emits a snapshot after a loss, then the messages after it',
      published: '-a---b--c',
      restart: '  --x------',
      cut: '      ---x-----',
      onLost: () => of('S'),
      streams: [' ^--!', '---^-----'],
      expected: ' -a-S-b--c',
    },
    {
      does: 'skips lost messages where onLost emits nothing',
      published: '-a---b--c',
      restart: '  --x---x--',
      cut: '      ---x---x-',
      onLost: () => EMPTY,
      streams: [' ^--!', '---^---!', '-------^-'],
      expected: ' -a---b--c',
    },
    {
      does: 'errors with the error of onLost',
      published: '-a---b',
      restart: '  --x---',
      cut: '      ---x--',
      onLost: () => {
        throw new Error('no snapshot');
      },
      streams: [' ^--!'],
      expected: ' -a-#',
      error: new Error('no snapshot'),
    },
    {
      does: 'leaves the stream when its subscriber leaves',
      published: '-a---b',
      unsub: '    ---!',
      streams: [' ^--!'],
      expected: ' -a--',
    },
  ])(
    '`topic` $does',
    marbles<[Row]>(({ hot, cold, expectObservable, expectSubscriptions }, row) => {
      const streams$ = hot<never>('-');
      const topics = topicServer(streams$, row);
      const { server, accepted, dial } = topics;
      const peer = dial();
      hot(row.published).subscribe((letter) => {
        topics.publish(letter);
      });
      cold(row.restart ?? '').subscribe(() => {
        topics.restart();
      });
      cold(row.cut ?? '').subscribe(() => server.link?.cut());
      cold(row.goaway ?? '').subscribe((drainMs) => void accepted().close({ drainMs: Number(drainMs) }));
      expectObservable(follow(peer, row.onLost), row.unsub).toBe(row.expected, undefined, row.error);
      expectSubscriptions(streams$.subscriptions).toBe(row.streams);
    }),
  );
});
