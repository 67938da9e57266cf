import { describe, expect, it } from '@jest/globals';
import { isControl } from '../../../src/session/base/precedence.js';
import { FRAME_TYPES } from '../../../src/wire/frame-types.js';
import { OutgoingFrame } from '../../../src/wire/outgoing.js';
import { ResetCode } from '../../../src/wire/reset-code.js';

/** For each lane, whether a frame is a control frame with a code that overtakes, and with one that takes its turn. */
const IS_CONTROL = { turn: [false, false], control: [true, true], 'by code': [true, false] };

describe('isControl', () => {
  it.each(Object.entries(FRAME_TYPES))('`isControl` puts a frame of type %s in its lane: %j', (type, { lane }) => {
    const codes = [ResetCode.CANCEL, ResetCode.APPLICATION_ERROR];
    expect(codes.map((code) => isControl(new OutgoingFrame({ type, stream: 1, code }, null)))).toEqual(IS_CONTROL[lane]);
  });
});
