import { BrokerError } from '../topics/broker-error.js';
import type { BrokerErrorCode } from '../topics/broker-error.js';
import { errorText } from '../util/check.js';
import type { NatsConnection } from './nats-connection.js';

const STREAM_NOT_FOUND = 10_059;
/** Another stream has the subject. */
const STREAM_NOT_MATCHED = 10_060;
const CONSUMER_NOT_FOUND = 10_014;
/** Answers for want of memory, of disk, and of room in a stream. */
const FULL: readonly unknown[] = [10_002, 10_023, 10_028, 10_047, 10_077];
/** Answers to a message that the stream never takes: it is too large, or the stream is sealed. */
const REFUSED: readonly unknown[] = [10_054, 10_109];
const UNAVAILABLE = 503;

/** An error of the client, as far as its kind depends on it. Several copies of the client have several classes, so names count. */
interface NatsError extends Error {
  readonly code?: unknown;
  readonly status?: unknown;
}

/** Explains an error of the client about `name`. */
export function explain(error: unknown, name: string, nc: NatsConnection): BrokerError {
  if (error instanceof BrokerError && !nc.isClosed()) return error;
  const { code, text } = judge(error instanceof Error ? error : new Error(String(error)), nc);
  return new BrokerError(code, `${name}: ${text}`, { cause: error });
}

interface Judgement {
  readonly code: BrokerErrorCode;
  readonly text: string;
}

function judge(error: NatsError, nc: NatsConnection): Judgement {
  const message = errorText(error);
  if (nc.isClosed()) return { code: 'BROKER_CLOSED', text: 'the connection to NATS is closed' };
  if (isForbidden(error)) return { code: 'BROKER_FORBIDDEN', text: `NATS forbids it: ${message}` };
  if (error.name.endsWith('NotFoundError') || error.name === 'JetStreamApiError') return judgeAnswer(error, message);
  if (error.name === 'JetStreamNotEnabled' && nc.info?.jetstream !== true && nc.info !== undefined) {
    return { code: 'BROKER_MISSING', text: 'the NATS server has no JetStream; start it with -js' };
  }
  if (error.name === 'JetStreamNotEnabled' || error.name === 'NoResponders') {
    return { code: 'BROKER_AWAY', text: 'no stream of NATS answers: it starts, or has no such subject' };
  }
  if (error.name === 'InvalidArgumentError' && message.includes('max_payload')) {
    return { code: 'BROKER_REFUSED', text: `NATS never takes this message: ${message}` };
  }
  if (error instanceof TypeError || error.name === 'InvalidArgumentError') return { code: 'BROKER_FAILED', text: message };
  return { code: 'BROKER_AWAY', text: `NATS does not answer: ${message}` };
}

/** Judges an error that JetStream itself has returned. */
function judgeAnswer({ code, status }: NatsError, message: string): Judgement {
  if (code === STREAM_NOT_FOUND) return { code: 'BROKER_MISSING', text: 'the stream does not exist' };
  if (code === STREAM_NOT_MATCHED) return { code: 'BROKER_MISSING', text: 'the stream has no such subject' };
  if (FULL.includes(code)) return { code: 'BROKER_FULL', text: `NATS has no room: ${message}` };
  if (REFUSED.includes(code)) return { code: 'BROKER_REFUSED', text: `NATS never takes this message: ${message}` };
  if (code === CONSUMER_NOT_FOUND || status === UNAVAILABLE) return { code: 'BROKER_AWAY', text: `NATS does not answer: ${message}` };
  return { code: 'BROKER_FAILED', text: `NATS answers: ${message}` };
}

function isForbidden(error: Error): boolean {
  const cause = error.cause instanceof Error ? error.cause : null;
  return error.name === 'PermissionViolationError' || (cause !== null && isForbidden(cause));
}
