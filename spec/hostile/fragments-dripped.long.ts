import { describe, expect, it } from '@jest/globals';
import { fromEvent, interval, lastValueFrom, take, tap } from 'rxjs';
import { WebSocket } from 'ws';
import { DEFAULT_LIMITS, ResetCode } from '../../src/index.js';
import { serve } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';
import { portOf } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';

const http = httpServer();
collectLogs();

/** Between two messages of 16 bytes that belong to no stream, in ms. */
const DRIP_MS = 5_000;
const DRIPS_PER_PATIENCE = DEFAULT_LIMITS.reassemblyTimeoutMs / DRIP_MS;
const DRIPS = 2 * DRIPS_PER_PATIENCE + 2;
const ABANDONED = [1, 3, 5];
const CONTINUED = 7;

interface Reset {
  readonly type: string;
  readonly stream: number;
  readonly code: number;
}

describe('payloads of a dripping remote', () => {
  it(
    'A server with default options resets unfinished payloads while other bytes drip in, and keeps one that goes on',
    async () => {
      const server = serve({ server: http.now });
      const socket = new WebSocket(`ws://127.0.0.1:${portOf(http.now)}`, ['mux.v1.json']);
      await lastValueFrom(fromEvent(socket, 'open').pipe(take(1)));
      const send = (frame: object): void => {
        socket.send(JSON.stringify(frame));
      };
      let drips = 0;
      const resets: (Reset & { readonly drips: number })[] = [];
      socket.on('message', (data: Buffer) => resets.push({ ...(JSON.parse(data.toString()) as Reset), drips }));

      for (const stream of [...ABANDONED, CONTINUED]) send({ type: 'open', stream, fragment: '"', more: true });
      const drip$ = interval(DRIP_MS).pipe(
        take(DRIPS),
        tap((nth) => {
          drips = nth + 1;
          send({ type: 'later' });
          if (drips % (DRIPS_PER_PATIENCE - 2) === 0) send({ type: 'open', stream: CONTINUED, fragment: 'x', more: true });
        }),
      );
      await lastValueFrom(drip$);

      // Their silence ends at about the same time, so in any order.
      const sorted = [...resets].sort((one, other) => one.stream - other.stream);
      expect(sorted.map(({ type, stream, code }) => [type, stream, code])).toEqual(
        ABANDONED.map((stream) => ['reset', stream, ResetCode.DEADLINE_EXCEEDED]),
      );
      for (const reset of resets) {
        expect(reset.drips).toBeGreaterThanOrEqual(DRIPS_PER_PATIENCE - 1);
        expect(reset.drips).toBeLessThanOrEqual(DRIPS_PER_PATIENCE + 2);
      }
      expect(socket.readyState).toBe(WebSocket.OPEN);
      socket.terminate();
      await server.close();
    },
    2 * DRIPS * DRIP_MS,
  );
});
