import { BrokerError } from '../topics/broker-error.js';
import type { BrokerErrorCode } from '../topics/broker-error.js';
import { errorText } from '../util/check.js';
import type { AnyRedis } from './redis-client.js';

type Judgement = readonly [code: BrokerErrorCode, text: string];

/** The answers of a server by their first word. Every other answer is BROKER_FAILED. */
const ANSWERS: Readonly<Record<string, Judgement>> = {
  WRONGTYPE: ['BROKER_MISSING', 'the key holds no stream'],
  NOAUTH: ['BROKER_FORBIDDEN', 'Redis forbids it'],
  NOPERM: ['BROKER_FORBIDDEN', 'Redis forbids it'],
  WRONGPASS: ['BROKER_FORBIDDEN', 'Redis forbids it'],
  OOM: ['BROKER_FULL', 'Redis has no room in memory'],
  MISCONF: ['BROKER_FULL', 'Redis cannot write to its disk'],
  LOADING: ['BROKER_AWAY', 'Redis starts'],
  BUSY: ['BROKER_AWAY', 'Redis is busy'],
  READONLY: ['BROKER_AWAY', 'this Redis is a replica'],
  UNBLOCKED: ['BROKER_AWAY', 'Redis has ended a read that waited'],
  NOREPLICAS: ['BROKER_AWAY', 'Redis has too few replicas'],
  MASTERDOWN: ['BROKER_AWAY', 'Redis has no master'],
  CLUSTERDOWN: ['BROKER_AWAY', 'the cluster is down'],
  TRYAGAIN: ['BROKER_AWAY', 'the cluster moves a key'],
};

/** Explains an error of the client about `name`. */
export function explain(error: unknown, name: string, client: Pick<AnyRedis, 'isOpen'>): BrokerError {
  if (!client.isOpen) return new BrokerError('BROKER_CLOSED', `${name}: the client of Redis is closed`, { cause: error });
  if (error instanceof BrokerError) return error;
  const message = errorText(error);
  const [code, text] = judge(error, message);
  return new BrokerError(code, `${name}: ${text}: ${message}`, { cause: error });
}

/** Answers of several kinds that all begin with ERR. */
const OTHERS: readonly (readonly [RegExp, Judgement])[] = [
  [/^ERR max number of clients/, ['BROKER_AWAY', 'Redis takes no more connections']],
  [/^ERR The stream has exhausted/, ['BROKER_REFUSED', 'Redis never takes this message']],
];

function judge(error: unknown, message: string): Judgement {
  const other = OTHERS.find(([pattern]) => pattern.test(message));
  if (other !== undefined) return other[1];
  const answer = /^([A-Z]{2,}) /.exec(message)?.[1];
  if (answer !== undefined) return Object.hasOwn(ANSWERS, answer) ? (ANSWERS[answer] ?? FAILED) : FAILED;
  return error instanceof TypeError ? FAILED : AWAY;
}

const AWAY: Judgement = ['BROKER_AWAY', 'Redis does not answer'];
const FAILED: Judgement = ['BROKER_FAILED', 'Redis answers'];
