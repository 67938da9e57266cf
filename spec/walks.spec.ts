import { Socket } from 'node:net';
import { Subject, firstValueFrom, skip } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Peer, StreamHandler } from '../src/index.js';
import type { MuxServer } from '../src/node.js';
import { turn } from './support/socket/leaks.js';
import { loadTraced, traced } from './support/process/traced.js';

/** The functions of the library that a call enters before the socket is written to, or a reply before its subscriber has it. */
interface Walk {
  /** Functions entered. */
  readonly calls: number;
  /** The files of these functions. */
  readonly files: number;
  /** How often the walk comes back to a file that it has left. */
  readonly returns: number;
}

/** The walks as they were last measured, over a warm socket of `ws` with `json`. */
const RECORDED: Readonly<Record<'request' | 'unsubscribe' | 'reply' | 'shared' | 'notify', Walk>> = {
  request: { calls: 93, files: 26, returns: 35 },
  unsubscribe: { calls: 77, files: 22, returns: 19 },
  reply: { calls: 75, files: 27, returns: 21 },
  shared: { calls: 69, files: 19, returns: 21 },
  notify: { calls: 135, files: 34, returns: 52 },
};
const MOST_GROWTH = 1.1;
const WARM_REQUESTS = 20;

let isRecording = false;
let files: string[] = [];
Object.assign(globalThis, {
  entered(file: string) {
    if (isRecording) files.push(file);
  },
});
const { serve, connect, SharedPayload } = loadTraced();
const values$ = new Subject<unknown>();
let server: MuxServer;
let peer: Peer;

beforeAll(async () => {
  const forever = new Promise<void>(() => undefined);
  const onStream: StreamHandler = (payload, stream) => {
    if (payload === 'shared') return stream.sendAll(values$);
    return payload === 'silent' ? forever : stream.reply(payload);
  };
  // A ping beside a request would make the next message wait for the end of its turn.
  server = serve({ port: 0, host: '127.0.0.1', onStream, keepalive: false });
  const { port } = await server.listening;
  peer = connect(`ws://127.0.0.1:${port}/`, { keepalive: false });
  await takeTurns(WARM_REQUESTS);
});

afterAll(async () => {
  await peer.close();
  await server.close({ drainMs: 0 });
});

describe('the walks to and from the socket', () => {
  it('A traced source notes the file at the start of every function', () => {
    expect(traced('a.ts', 'const f = () => ({ a: 1 }); function g() { return f; } class C { get x(): number { return 1; } }')).toBe(
      'const f = () => (entered("a.ts"),(({ a: 1 }))); function g() {entered("a.ts"); return f; } class C { get x(): number {entered("a.ts"); return 1; } }',
    );
  });

  it('A walk counts calls, files and the returns to a file that it has left', () => {
    expect(counted(['a.ts', 'a.ts', 'b.ts', 'a.ts', 'c.ts', 'b.ts'])).toEqual({ calls: 6, files: 3, returns: 2 });
  });

  it('A request walks to the socket as recorded, within a tenth', async () => {
    await takeTurns(2);
    expectAsRecorded(await walk(() => void peer.request(1)), RECORDED.request);
  });

  it('An unsubscribe walks to the socket as recorded, within a tenth', async () => {
    const subscription = peer.open$('silent').subscribe();
    await takeTurns(2);
    expectAsRecorded(
      await walk(() => {
        subscription.unsubscribe();
      }),
      RECORDED.unsubscribe,
    );
  });

  it('A shared value walks from its source to the socket of a subscriber as recorded, within a tenth', async () => {
    const received = firstValueFrom(peer.open$('shared').pipe(skip(3)));
    await takeTurns(2);
    const value = 'x'.repeat(10_000);
    const shared = new SharedPayload(value);
    // As for every subscriber but the first, it is encoded already.
    values$.next(shared);
    values$.next(shared);
    await takeTurns(2);
    expectAsRecorded(
      await walk(() => {
        values$.next(shared);
      }),
      RECORDED.shared,
    );
    values$.next(shared);
    expect(await received).toBe(value);
  });

  it('A notification of a server walks to the socket of a peer as recorded, within a tenth', async () => {
    await takeTurns(2);
    const shared = new SharedPayload('x'.repeat(10_000));
    peer.onStream(() => undefined);
    // As for every peer but the first, it is encoded already.
    server.notify(shared);
    await takeTurns(2);
    expectAsRecorded(await walk(() => void server.notify(shared)), RECORDED.notify);
  });

  it('A reply walks from its socket to the subscriber as recorded, within a tenth', async () => {
    await takeTurns(2);
    expectAsRecorded(await walkIn(), RECORDED.reply);
  });
});

/** Sends requests one after the other. Behind such a turn of one message, a socket writes the next message at once. */
async function takeTurns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await peer.request(n);
}

/** Runs `begin`, and records until the socket is written to, at once or at the end of the turn. */
async function walk(begin: () => void): Promise<Walk> {
  const { write } = Socket.prototype as { write: (this: Socket, ...args: unknown[]) => boolean };
  const spy = jest.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...args: unknown[]) {
    isRecording = false;
    return write.apply(this, args);
  });
  files = [];
  isRecording = true;
  begin();
  if (isRecording) await turn();
  const hasWritten = !isRecording;
  isRecording = false;
  spy.mockRestore();
  expect(hasWritten).toBe(true);
  return counted(files);
}

/** Opens a stream, and records from the read that brings the reply until the subscriber receives it. */
async function walkIn(): Promise<Walk> {
  const { emit } = Socket.prototype as { emit: (this: Socket, ...args: unknown[]) => boolean };
  const spy = jest.spyOn(Socket.prototype, 'emit').mockImplementation(function (this: Socket, ...args: unknown[]) {
    // The read of the server comes earlier, so only the last read stays recorded.
    if (args[0] === 'data') {
      files = [];
      isRecording = true;
    }
    return emit.apply(this, args);
  });
  await new Promise<void>((complete) => {
    const next = (): void => {
      isRecording = false;
    };
    peer.open$(1).subscribe({ next, complete });
  });
  spy.mockRestore();
  return counted(files);
}

function counted(entered: readonly string[]): Walk {
  const seen = new Set<string>();
  let returns = 0;
  entered.forEach((file, at) => {
    if (file !== entered[at - 1] && seen.has(file)) returns++;
    seen.add(file);
  });
  return { calls: entered.length, files: seen.size, returns };
}

/** A walk that has become a tenth shorter has to be recorded anew. */
function expectAsRecorded(measured: Walk, recorded: Walk): void {
  expect({ measured, isLonger: isLonger(measured, recorded) }).toEqual({ measured, isLonger: false });
  expect({ measured, isShorter: isLonger(recorded, measured) }).toEqual({ measured, isShorter: false });
}

function isLonger(one: Walk, other: Walk): boolean {
  return one.calls > MOST_GROWTH * other.calls || one.files > MOST_GROWTH * other.files || one.returns > MOST_GROWTH * other.returns;
}
