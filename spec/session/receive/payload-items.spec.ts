import { describe, expect, it } from '@jest/globals';
import { MsgpackCodec } from '../../../src/codec/msgpack.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { Rig } from '../../support/session/rig.js';

const codec = new MsgpackCodec();
/** Items of an envelope with `type`, `stream` and `payload`, besides the payload: the map, its keys and the other values. */
const AROUND = 6;
const ITEMS = 20;

function rigOf(maxPayloadItems: number): Rig {
  const rig = new Rig({ codec, limits: { maxPayloadItems } });
  rig.remote(1);
  return rig;
}

describe('maxPayloadItems', () => {
  const payload = Array.from({ length: ITEMS - 1 }, () => null);
  const whole = codec.encodePayload(payload);
  const reason = (items: number): string => `codec 'msgpack': expected at most ${items} items (maxPayloadItems), got more`;

  it('Session accepts a message of maxPayloadItems items and ends the connection at one more', () => {
    const rig = rigOf(AROUND + ITEMS);
    rig.receive({ type: 'data', stream: 1, payload });
    expect([rig.remotes[0]?.payloads, rig.transport.closes]).toEqual([[payload], []]);
    rig.receive({ type: 'data', stream: 1, payload: [...payload, null] });
    expect(rig.transport.closes).toEqual([{ code: 1002, reason: reason(AROUND + ITEMS) }]);
  });

  it('Session accepts a reassembled payload of maxPayloadItems items and resets the stream at one more', () => {
    const longer = codec.encodePayload([...payload, null]);
    const rig = rigOf(ITEMS);
    rig.receive({ type: 'data', stream: 1, fragment: whole.slice(0, 3), more: true });
    rig.receive({ type: 'data', stream: 1, fragment: whole.slice(3) });
    expect([rig.remotes[0]?.payloads, rig.news]).toEqual([[payload], []]);
    rig.receive({ type: 'data', stream: 1, fragment: longer });
    expect(rig.news).toEqual([{ type: 'reset', stream: 1, code: ResetCode.PROTOCOL_ERROR, reason: reason(ITEMS) }]);
  });
});

describe('maxPayloadItems under json', () => {
  const arrays = (count: number): string => `[${'[],'.repeat(count - 2)}[]]`;
  const limits = { maxPayloadItems: 20 };
  const reason = `codec 'json': expected at most 20 items (maxPayloadItems), got more`;

  it('Session resets the stream of a reassembled JSON payload with more items than maxPayloadItems', () => {
    const rig = new Rig({ limits });
    const stream = rig.remote(1);
    rig.receive({ type: 'data', stream: 1, fragment: arrays(20).slice(0, 3), more: true });
    rig.receive({ type: 'data', stream: 1, fragment: arrays(20).slice(3) });
    expect([stream.payloads, rig.news]).toEqual([[JSON.parse(arrays(20))], []]);
    rig.receive({ type: 'data', stream: 1, fragment: arrays(21) });
    expect(rig.news).toEqual([{ type: 'reset', stream: 1, code: ResetCode.PROTOCOL_ERROR, reason }]);
  });

  it('Session ends the connection at a JSON message with more items than maxPayloadItems', () => {
    const rig = new Rig({ limits });
    rig.remote(1);
    const around = 6;
    rig.receive({ type: 'data', stream: 1, payload: JSON.parse(arrays(20 - around)) as unknown });
    expect(rig.transport.closes).toEqual([]);
    rig.receive({ type: 'data', stream: 1, payload: JSON.parse(arrays(21 - around)) as unknown });
    expect(rig.transport.closes).toEqual([{ code: 1002, reason }]);
  });
});
