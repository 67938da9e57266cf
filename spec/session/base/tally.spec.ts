import { describe, expect, it } from '@jest/globals';
import { Tally } from '../../../src/stream/end.js';
import { ENDED } from '../../../src/stream/end.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { typesOf, Rig } from '../../support/session/rig.js';

const reset = { how: 'reset', reason: '', payload: null } as const;

describe('the tally', () => {
  it('A tally counts ends by cause, and a reset by its code and by who sent it', () => {
    const tally = new Tally();
    tally.ended(ENDED);
    tally.ended({ how: 'lost', reason: { code: 1006, reason: '', wasClean: false, willRetry: false } });
    for (const by of ['user', 'library', 'remote'] as const) tally.ended({ ...reset, by, code: ResetCode.CANCEL });
    tally.ended({ ...reset, by: 'remote', code: ResetCode.CANCEL });
    expect(tally.causes).toEqual({
      ended: 1,
      lost: 1,
      'user reset CANCEL': 1,
      'library reset CANCEL': 1,
      'remote reset CANCEL': 2,
    });
  });

  it.each([
    [null, 'remote reset NO_ERROR'],
    [0, 'remote reset NO_ERROR'],
    [255, 'remote reset 255'],
    [-1, 'remote reset other'],
    [256, 'remote reset other'],
    [2 ** 40, 'remote reset other'],
  ])('The code %s of a reset has the name %s', (code, name) => {
    const tally = new Tally();
    tally.ended({ ...reset, by: 'remote', code });
    expect(tally.causes).toEqual({ [name]: 1 });
  });

  it('A session counts its frames in both directions, and its streams', () => {
    const rig = new Rig({ limits: { maxStreams: 1 } });
    rig.receive({ type: 'open', stream: 1 }, { type: 'open', stream: 3 }, { type: 'ping', nonce: 'n' });
    expect(typesOf(rig)).toEqual(['reset', 'pong']);
    expect(rig.tally).toMatchObject({ opened: 2, sentFrames: 2, receivedFrames: 3 });
    expect(rig.tally.receivedBytes).toBe('{"type":"open","stream":1}{"type":"open","stream":3}{"type":"ping","nonce":"n"}'.length);
    expect(rig.tally.causes).toEqual({ 'library reset REFUSED': 1 });
  });

  it('A session counts the bytes of its messages, without the framing of its socket', () => {
    const rig = new Rig();
    rig.receive({ type: 'ping', nonce: 'n' });
    const { sentBytes } = rig.transport;
    expect(rig.connection.sentBytes).toBe(sentBytes);
    Object.assign(rig.transport, { framingBytes: 6 });
    expect(rig.connection.sentBytes).toBe(sentBytes - 6);
  });

  it('A connection counts the frames that wait, control frames included', () => {
    const rig = new Rig();
    rig.transport.bufferedAmount = 1024 * 1024;
    rig.connection.control.probe();
    for (const payload of ['one', 'two']) void rig.open({ payload });
    expect(rig.connection.outbound.frames).toBe(3);
    rig.transport.drainTo(0);
    expect(rig.connection.outbound.frames).toBe(0);
  });
});
