import { describe, expect, it } from '@jest/globals';
import { errorText } from '../../src/util/check.js';

const refused = (address: string): Error => new Error(`connect ECONNREFUSED ${address}`);

describe('errorText', () => {
  it.each<[string, unknown, string]>([
    ['the message of an error', new Error('connection lost'), 'connection lost'],
    ['a message of OpenSSL without its line break', new Error('wrong version number:355:\n'), 'wrong version number:355:'],
    [
      'the errors inside an error without a message',
      new AggregateError([refused('::1'), refused('127.0.0.1')]),
      'connect ECONNREFUSED ::1, connect ECONNREFUSED 127.0.0.1',
    ],
    ['the code where no error is inside', Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    ['the code of an error inside', new AggregateError([Object.assign(new Error(), { code: 'ETIMEDOUT' })]), 'ETIMEDOUT'],
    ['the name of an error that says nothing else', new RangeError(), 'RangeError'],
    ['any other value as a text', 'lost', 'lost'],
  ])('`errorText` returns %s', (_, error, text) => {
    expect(errorText(error)).toBe(text);
  });
});
