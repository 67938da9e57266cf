import { describe, expect, it } from '@jest/globals';
import { groupBy, map, mergeMap } from 'rxjs';
import type { Observable } from 'rxjs';
import { connect, demultiplex, ofDirection, ofStream, ofType } from '../../src/index.js';
import type { FrameEvent } from '../../src/index.js';
import { createServer } from '../../src/testing.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { collectLogs } from '../support/peer/logs.js';

const time = virtualPeerTime();

/** Runs a pipeline over the frames of a peer with three sockets in turn. Both sides send requests over each socket. */
async function saidOf(pipeline: (frames$: Observable<FrameEvent>) => Observable<string>): Promise<readonly string[]> {
  const server = createServer({ onStream: (_, stream) => stream.reply('answer') });
  server.peers$.subscribe((peer) => {
    peer.notify('notice');
  });
  const peer = connect('ws://test', { socket: server.socket, keepalive: false, reconnect: true });
  const said: string[] = [];
  pipeline(peer.frames$).subscribe((line) => said.push(line));
  for (const question of ['one', 'two', 'three']) {
    void peer.request(question);
    await time.advance(31_000);
    server.link?.cut();
  }
  return said;
}

describe('operators over the frames of a peer that reconnects', () => {
  collectLogs();

  it('`demultiplex` keeps equal stream ids of several sockets apart after a groupBy connection', async () => {
    const said = await saidOf((frames$) =>
      frames$.pipe(
        ofDirection('rx'),
        groupBy(({ connection }) => connection),
        mergeMap((socket$) =>
          socket$.pipe(
            map(({ frame }) => frame),
            demultiplex(),
            mergeMap((stream$) => stream$.pipe(map(({ payload }) => `${socket$.key}: ${stream$.key}: ${String(payload)}`))),
          ),
        ),
      ),
    );
    expect(said).toEqual([1, 2, 3].flatMap((socket) => [`${socket}: 2: notice`, `${socket}: 1: answer`]));
  });

  it('Narrowing operators continue over each socket with one subscription', async () => {
    const said = await saidOf((frames$) =>
      frames$.pipe(
        ofDirection('tx'),
        ofType('open'),
        ofStream(1),
        map(({ connection, frame }) => `${connection}: ${String(frame.payload)}`),
      ),
    );
    expect(said).toEqual(['1: one', '2: two', '3: three']);
  });
});
