import { describe, expect, it } from '@jest/globals';
import { explain } from '../../src/redis/redis-error.js';
import { BrokerError } from '../../src/topics.js';
import type { BrokerErrorCode } from '../../src/topics.js';

const OPEN = { isOpen: true };

describe('errors of Redis', () => {
  it.each<readonly [BrokerErrorCode, string, unknown]>([
    ['BROKER_MISSING', 'the key holds no stream', new Error('WRONGTYPE Operation against a key holding the wrong kind of value')],
    ['BROKER_FORBIDDEN', 'Redis forbids it', new Error("NOPERM User default has no permissions to run the 'xadd' command")],
    ['BROKER_FORBIDDEN', 'Redis forbids it', new Error('NOAUTH Authentication required.')],
    ['BROKER_FORBIDDEN', 'Redis forbids it', new Error('WRONGPASS invalid username-password pair')],
    ['BROKER_FULL', 'Redis has no room in memory', new Error("OOM command not allowed when used memory > 'maxmemory'.")],
    ['BROKER_FULL', 'Redis cannot write to its disk', new Error('MISCONF Errors writing to the AOF file: No space left on device')],
    ['BROKER_AWAY', 'Redis starts', new Error('LOADING Redis is loading the dataset in memory')],
    ['BROKER_AWAY', 'this Redis is a replica', new Error("READONLY You can't write against a read only replica.")],
    [
      'BROKER_AWAY',
      'Redis has ended a read that waited',
      new Error('UNBLOCKED force unblock from blocking operation, instance state changed'),
    ],
    ['BROKER_AWAY', 'Redis has too few replicas', new Error('NOREPLICAS Not enough good replicas to write.')],
    ['BROKER_AWAY', 'Redis takes no more connections', new Error('ERR max number of clients reached')],
    ['BROKER_AWAY', 'Redis takes no more connections', new Error('ERR max number of clients + cluster connections reached')],
    [
      'BROKER_REFUSED',
      'Redis never takes this message',
      new Error('ERR The stream has exhausted the last possible ID, unable to add more items'),
    ],
    ['BROKER_FAILED', 'Redis answers', new Error('ERR unknown command')],
    ['BROKER_FAILED', 'Redis answers', new Error('CONSTRUCTOR is no answer')],
    ['BROKER_FAILED', 'Redis answers', new TypeError('expected a text')],
    ['BROKER_AWAY', 'Redis does not answer', new Error('connect ECONNREFUSED 127.0.0.1:6379')],
    ['BROKER_AWAY', 'Redis does not answer', 'a text'],
  ])('An error of the client becomes %s: %s', (code, text, error) => {
    const explained = explain(error, 'topic', OPEN);
    expect(explained).toMatchObject({ code, cause: error });
    expect(explained.message).toBe(`topic: ${text}: ${error instanceof Error ? error.message : String(error)}`);
  });

  it('An error without a message is explained by the errors inside', () => {
    const refused = ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}:6379`));
    const explained = explain(new AggregateError(refused), 'topic', OPEN);
    expect(explained.message).toBe('topic: Redis does not answer: connect ECONNREFUSED ::1:6379, connect ECONNREFUSED 127.0.0.1:6379');
  });

  it('A closed client becomes BROKER_CLOSED, whatever the error', () => {
    const error = new BrokerError('BROKER_AWAY', 'lost');
    expect(explain(error, 'topic', { isOpen: false }).code).toBe('BROKER_CLOSED');
    expect(explain(error, 'topic', OPEN)).toBe(error);
  });
});
