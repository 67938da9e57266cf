import { describe, expect, it } from '@jest/globals';
import { JetStreamApiError } from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';
import type { NatsConnection } from '../../src/nats.js';
import { explain } from '../../src/nats/nats-error.js';
import { BrokerError } from '../../src/topics.js';
import type { BrokerErrorCode } from '../../src/topics.js';

const connection = (jetstream: boolean, isClosed = false): NatsConnection =>
  ({ info: { jetstream }, isClosed: () => isClosed }) as unknown as NatsConnection;
const answer = (err_code: number, code = 400, description = 'text'): Error => new JetStreamApiError({ err_code, code, description });
const notEnabled = Object.assign(new Error('jetstream is not enabled'), { name: 'JetStreamNotEnabled' });
const forbidden = new errors.PermissionViolationError('no', 'publish', 'topics.a');

describe('errors of NATS', () => {
  it.each<readonly [BrokerErrorCode, string, unknown]>([
    ['BROKER_MISSING', 'the stream does not exist', answer(10_059, 404)],
    ['BROKER_AWAY', 'NATS does not answer: text', answer(10_014, 404)],
    ['BROKER_FULL', 'NATS has no room: maximum bytes exceeded', answer(10_077, 503, 'maximum bytes exceeded')],
    [
      'BROKER_FULL',
      'NATS has no room: insufficient storage resources available',
      answer(10_047, 500, 'insufficient storage resources available'),
    ],
    [
      'BROKER_AWAY',
      'NATS does not answer: JetStream system temporarily unavailable',
      answer(10_008, 503, 'JetStream system temporarily unavailable'),
    ],
    ['BROKER_REFUSED', 'NATS never takes this message: message size exceeds maximum', answer(10_054, 400, 'message size exceeds maximum')],
    [
      'BROKER_REFUSED',
      'NATS never takes this message: invalid operation on sealed stream',
      answer(10_109, 400, 'invalid operation on sealed stream'),
    ],
    [
      'BROKER_REFUSED',
      "NATS never takes this message: 'payload' max_payload size exceeded",
      errors.InvalidArgumentError.format('payload', 'max_payload size exceeded'),
    ],
    ['BROKER_FAILED', 'NATS answers: maximum consumers limit reached', answer(10_026, 400, 'maximum consumers limit reached')],
    ['BROKER_FORBIDDEN', 'NATS forbids it: no', forbidden],
    ['BROKER_FORBIDDEN', 'NATS forbids it: request failed', new errors.RequestError('request failed', { cause: forbidden })],
    ['BROKER_AWAY', 'no stream of NATS answers: it starts, or has no such subject', notEnabled],
    ['BROKER_AWAY', 'no stream of NATS answers: it starts, or has no such subject', new errors.NoRespondersError('topics.a')],
    ['BROKER_AWAY', 'NATS does not answer: timeout', new errors.TimeoutError()],
    ['BROKER_FAILED', 'expected a header', new TypeError('expected a header')],
    ['BROKER_AWAY', 'NATS does not answer: a text', 'a text'],
    ['BROKER_AWAY', 'NATS does not answer: ECONNREFUSED', Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })],
    ['BROKER_FAILED', 'TypeError', new TypeError()],
    ['BROKER_FAILED', 'NATS answers: 10026', answer(10_026, 400, '')],
  ])('An error of the client becomes %s: %s', (code, text, error) => {
    const explained = explain(error, 'topic', connection(true));
    expect([explained.code, explained.message, explained.cause]).toEqual([code, `topic: ${text}`, error]);
  });

  it('A server without JetStream becomes BROKER_MISSING', () => {
    expect(explain(notEnabled, 'topic', connection(false)).code).toBe('BROKER_MISSING');
  });

  it('A closed connection becomes BROKER_CLOSED, whatever the error', () => {
    const error = new BrokerError('BROKER_AWAY', 'lost');
    expect(explain(error, 'topic', connection(true, true)).code).toBe('BROKER_CLOSED');
    expect(explain(error, 'topic', connection(true))).toBe(error);
  });
});
