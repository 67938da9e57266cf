import { describe, expect, it } from '@jest/globals';
import type { Share } from '../../src/connection/connection.js';
import { ResetCode } from '../../src/wire/codes.js';
import { Rig } from '../support/session/rig.js';

/** A share that the test controls. */
class ScriptedShare implements Share {
  held = 0;
  maxHeld = Infinity;
  streams = 0;
  bytes = 0;
  holdsMuch = false;
  waits = false;
  overflows = false;
  refusal: string | null = null;
  room: () => void = () => undefined;

  hold(bytes: number): boolean {
    if (this.held + bytes > this.maxHeld) return false;
    this.held += bytes;
    return true;
  }

  holdRefusal(bytes: number): string {
    return `${bytes} bytes are too many together`;
  }

  unhold(bytes: number): void {
    this.held -= bytes;
  }

  streamRefusal(): string | null {
    return this.refusal;
  }

  streamTaken(): void {
    this.streams++;
  }

  streamReleased(): void {
    this.streams--;
  }

  queued(bytes: number): void {
    this.bytes += bytes;
  }

  mustWait(): boolean {
    return this.waits;
  }

  overflowsWith(): boolean {
    return this.overflows;
  }

  onRoom(task: () => void): void {
    this.room = task;
  }

  /** Other connections have made room. */
  makeRoom(): void {
    this.waits = false;
    this.room();
  }
}

function shared(): readonly [Rig, ScriptedShare] {
  const share = new ScriptedShare();
  return [new Rig({ share }), share];
}

describe('a session that shares limits', () => {
  it('Session counts the streams of the remote, and refuses one that the share refuses', () => {
    const [rig, share] = shared();
    const stream = rig.remote(1);
    expect(share.streams).toBe(1);
    share.refusal = 'enough together';
    rig.receive({ type: 'open', stream: 3 });
    expect(rig.news).toEqual([{ type: 'reset', stream: 3, code: ResetCode.REFUSED, reason: 'enough together' }]);
    stream.live.reset('user', ResetCode.CANCEL, '');
    expect(share.streams).toBe(0);
  });

  it('Session counts attached, unread and unfinished payloads, and releases them', () => {
    const [rig, share] = shared();
    const stream = rig.remote(1, { payload: 'x'.repeat(100) });
    expect(share.held).toBeGreaterThanOrEqual(100);
    const attached = share.held;
    expect(stream.live.keep(200)).toBe(true);
    rig.receive({ type: 'data', stream: 1, fragment: `"${'y'.repeat(300)}`, more: true });
    expect(share.held).toBe(attached + 200 + 301);
    rig.transport.end();
    expect(share.held).toBe(0);
  });

  it('Session resets a stream whose payload is too much together, with the reason of the share', () => {
    const [rig, share] = shared();
    const stream = rig.remote(1);
    share.maxHeld = 500;
    rig.receive({ type: 'data', stream: 1, fragment: `"${'y'.repeat(700)}`, more: true });
    expect(stream.cause).toMatchObject({ code: ResetCode.ENHANCE_YOUR_CALM, reason: '701 bytes are too many together' });
    const unread = rig.remote(3);
    expect(unread.live.keep(600)).toBe(false);
    expect(unread.cause).toMatchObject({ code: ResetCode.ENHANCE_YOUR_CALM, reason: '600 bytes are too many together' });
    expect(share.held).toBe(0);
  });

  it("A session's own limit comes first, and counts nothing together", () => {
    const share = new ScriptedShare();
    const rig = new Rig({ share, limits: { maxHeldBytes: 100 } });
    const stream = rig.remote(1);
    expect(stream.live.keep(200)).toBe(false);
    expect(stream.cause).toMatchObject({ reason: '200 bytes held by this connection are over the limit of 100 (maxHeldBytes)' });
    expect(share.held).toBe(0);
  });

  it('Session pauses its socket at an unread payload while the share holds much', () => {
    const [rig, share] = shared();
    const stream = rig.remote(1);
    stream.live.keep(10);
    expect(rig.transport.paused).toBe(false);
    share.holdsMuch = true;
    stream.live.keep(10);
    expect(rig.transport.paused).toBe(true);
    stream.live.read(20);
    expect(rig.transport.paused).toBe(false);
  });
});

describe('sending with a share', () => {
  it('Session reports each payload that it queues or writes', () => {
    const [rig, share] = shared();
    const stream = rig.open();
    const before = share.bytes;
    rig.send(stream, { payload: 'x'.repeat(98) });
    expect(share.bytes).toBe(before + 100);
    rig.transport.bufferedAmount = 1024 * 1024;
    rig.send(stream, { payload: 'x'.repeat(98) });
    rig.send(stream, { payload: 'x'.repeat(98) });
    expect(share.bytes).toBe(before + 300);
  });

  it('A stream has no room while its connection has to wait, and has room again when others make some', () => {
    const [rig, share] = shared();
    const stream = rig.open();
    share.waits = true;
    expect(stream.live.hasRoom).toBe(false);
    let woken = 0;
    stream.live.whenRoom(() => woken++);
    expect(woken).toBe(0);
    share.makeRoom();
    expect(woken).toBe(1);
  });

  it('A stream is not asked for its next frame while its connection has to wait', () => {
    const [rig, share] = shared();
    const stream = rig.open();
    expect(stream.live.hasDemand).toBe(true);
    share.waits = true;
    expect(stream.live.hasDemand).toBe(false);
    let asked = 0;
    stream.live.whenDemand(() => asked++);
    expect(asked).toBe(0);
    share.makeRoom();
    expect(asked).toBe(1);
  });

  it('A stream whose turn comes is not asked while its connection has to wait', () => {
    const [rig, share] = shared();
    const [stream, other] = [rig.open(), rig.open()];
    rig.transport.bufferedAmount = 1024 * 1024;
    rig.send(other, { payload: 'x' });
    let asked = 0;
    stream.live.whenDemand(() => asked++);
    share.waits = true;
    rig.transport.drainTo(0);
    expect(asked).toBe(0);
    share.makeRoom();
    expect(asked).toBe(1);
  });

  it('A value overflows where the share says so', () => {
    const [rig, share] = shared();
    const stream = rig.open();
    expect(stream.live.overflowsWith(1)).toBe(false);
    share.overflows = true;
    expect(stream.live.overflowsWith(1)).toBe(true);
  });
});
