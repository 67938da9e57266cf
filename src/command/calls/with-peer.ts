import { inspect } from 'node:util';
import { DeadlineExceededError, isMuxError, RefusedError, StreamError, ConnectionLostError } from 'rxmux';
import type { Peer } from 'rxmux';
import { connect } from 'rxmux/node';
import { codecNamed } from '../codec.js';
import { Exit, UsageError, onSignal } from '../exit.js';
import type { ExitStatus } from '../exit.js';
import { hasColours, oneLine, print, safeInspected, safeJson, safeLines } from '../output.js';
import type { CallSettings } from './settings.js';

/**
 * Connects, runs `work`, closes in order, and returns the exit status. It prints an error. Ctrl-C and SIGTERM cancel the streams of `work`.
 *
 * @throws UsageError for a payload that the codec does not carry
 */
export async function withPeer(settings: CallSettings, work: (peer: Peer) => Promise<void>): Promise<ExitStatus> {
  const { url, headers, timeoutMs } = settings;
  const codec = await codecNamed(settings.codec);
  const peer = connect(url, { codec, headers, connectTimeoutMs: timeoutMs, requestTimeoutMs: timeoutMs });
  let interrupted: ExitStatus | null = null;
  onSignal((status) => {
    interrupted = status;
    void peer.close({ drainMs: 0 }).finally(() => process.exit(status));
  });
  try {
    await peer.opened;
    await work(peer);
    await peer.close({ drainMs: timeoutMs });
    return Exit.OK;
  } catch (error) {
    if (interrupted !== null) return interrupted;
    void peer.close();
    if (error instanceof TypeError) throw new UsageError(error.message);
    if (!isMuxError(error)) throw error;
    printError(error, settings);
    return statusOf(error);
  }
}

/** Prints a value: JSON on one line, or readable for a person. Resolves once the output takes more. */
export async function printPayload(payload: unknown, { json }: CallSettings): Promise<void> {
  await print(json ? jsonOf({ payload }) : shown(payload));
}

/** A text goes into a pipe or a file unchanged; a terminal would act on its control characters. */
function shown(payload: unknown): string {
  if (typeof payload === 'string') return process.stdout.isTTY ? safeLines(payload) : payload;
  return safeInspected(inspect(payload, { depth: null, colors: hasColours(), maxArrayLength: null, maxStringLength: null }));
}

/** Returns the JSON of a value, with bytes in base64, a bigint as text, and a Map or a Set as an array. */
function jsonOf(value: unknown): string {
  return safeJson(JSON.stringify(value, (_: string, inner: unknown) => plain(inner)));
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (typeof value === 'bigint') return String(value);
  return value instanceof Map || value instanceof Set ? [...(value as Iterable<unknown>)] : value;
}

function printError(error: Error, { json }: CallSettings): void {
  const { name, message } = error;
  const { resetCode, payload } = error as { readonly resetCode?: unknown; readonly payload?: unknown };
  if (json) process.stdout.write(`${jsonOf({ error: { name, message, resetCode, payload } })}\n`);
  else process.stderr.write(`rxmux: ${name}: ${[oneLine(message), ...detailsOf(payload)].join(' ')}\n`);
}

/** The parts of an error's payload that its message lacks, such as the data of a declared error. */
function detailsOf(payload: unknown = null): string[] {
  if (payload === null) return [];
  const { name, message, data, declared, ...others } = Object(payload) as Readonly<Record<string, unknown>>;
  const isUsual = typeof name === 'string' && typeof message === 'string' && Object.keys(others).length === 0;
  // Only the library's own errors have a name and another message, and it says all of their data.
  const isTold = isUsual && (data === undefined || (declared === true && name !== message));
  return isTold ? [] : [safeInspected(inspect(isUsual ? data : payload, { depth: null, maxArrayLength: null, maxStringLength: null }))];
}

function statusOf(error: Error): ExitStatus {
  if (error instanceof DeadlineExceededError) return Exit.TIMEOUT;
  if (error instanceof RefusedError) return Exit.REFUSED;
  return error instanceof StreamError && !(error instanceof ConnectionLostError) ? Exit.REMOTE : Exit.CONNECTION;
}
