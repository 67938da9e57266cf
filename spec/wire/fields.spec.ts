import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { envelopeBound } from '../../src/wire/outgoing.js';
import { FIELDS } from '../../src/wire/frame.js';
import { splitFrame } from '../../src/wire/fragment.js';
import { completeFrame, payloadFrame } from '../../src/wire/frame.js';
import { framesEqual } from '../../src/wire/mapping.js';
import { fromMapping, toMapping } from '../../src/wire/mapping.js';
import { OutgoingFrame } from '../../src/wire/outgoing.js';
import { placesWithout } from '../support/wire/field-places.js';
import type { FieldModules } from '../support/wire/field-places.js';

const LIBRARY: FieldModules = {
  FIELDS,
  completeFrame,
  payloadFrame,
  fromMapping,
  toMapping,
  framesEqual,
  OutgoingFrame,
  splitFrame,
  envelopeBound,
  JsonCodec,
  MsgpackCodec,
};
describe('the fields of a frame', () => {
  it.each(Object.keys(FIELDS).filter((key) => key !== 'type'))('No place misses the field %s', (key) => {
    expect(placesWithout(key, LIBRARY)).toEqual([]);
  });
});
