import { Mismatch } from './mismatch.js';
import { described, hasFields, matches } from './match.js';
import { padding, revive } from './special.js';
import type { Scope } from './special.js';
import type { Envelope } from '../raw-codec.js';
import type { Wire } from './wire.js';
import type { Step } from './rows.js';
import { upgradeStep } from './upgrade.js';
import type { DialerSteps, Target } from './target.js';

/** The run of one row. */
export interface Run extends Scope {
  readonly target: Target;
  /** Makes the connection at the first step that needs one. */
  readonly wire: () => Promise<Wire>;
  /** One line for each sent message. */
  readonly sent: string[];
  readonly withinMs: number;
}

type Act = (step: Step, run: Run) => Promise<void>;

/** Each kind of step, by the key that names it. */
const ACTS: Readonly<Record<string, Act>> = {
  send: async (step, run) => {
    const wire = await run.wire();
    const frames = Array.isArray(step['send']) ? step['send'] : [step['send']];
    const times = Number(step['times'] ?? 1);
    for (let count = 0; count < times; count++) {
      for (const frame of frames) wire.send(run.codec.encode(revive(frame, { ...run, count })));
    }
    note(run, times > 1 ? `${times} times` : '', ...frames.map((frame: unknown) => described(revive(frame, run))));
  },
  sendValue: (step, run) => sendMessage(run, run.codec.encode(revive(step['sendValue'], run))),
  sendText: async (step, run) => {
    const text = revive(step['sendText'], run) as string | Uint8Array;
    (await run.wire()).send(text, false);
    note(run, described(text));
  },
  sendBytes: (step, run) => sendMessage(run, Uint8Array.from(Buffer.from(String(revive(step['sendBytes'], run)), 'hex'))),
  sendEmpty: (_, run) => sendMessage(run, run.codec.binary ? new Uint8Array(0) : ''),
  sendWrongKind: (_, run) => sendMessage(run, run.codec.binary ? '{"type":"ping"}' : new Uint8Array([0x81, 0xa4])),
  sendPadded: (step, run) => {
    const frame = revive(step['sendPadded'], run) as Envelope;
    const encode = (pad: string): string | Uint8Array => run.codec.encode({ ...frame, pad });
    return sendMessage(run, encode(padding(Number(step['bytes']), encode)));
  },
  sendSliced: async (step, run) => {
    const { payload, end, ...frame } = revive(step['sendSliced'], run) as Envelope;
    const wire = await run.wire();
    const slices = sliced(run.codec.encode(payload), Number(step['size'] ?? 20_000));
    for (const [at, fragment] of slices.entries()) {
      const rest = at < slices.length - 1 ? { more: true } : end === true ? { end } : {};
      wire.send(run.codec.encode({ ...frame, fragment, ...rest }));
    }
    note(run, `${described(frame)} in ${slices.length} fragments`);
  },
  expect: async (step, run) => {
    const expected = revive(step['expect'], run) as Envelope;
    const wire = await run.wire();
    const got = await nextLike(expected, wire, Number(step['withinMs'] ?? run.withinMs));
    if (got === null || !isAsExpected(expected, got)) throw new Mismatch(described(expected), gotOf(got, wire));
    if (expected['end'] !== true || got['end'] === true) return;
    // The end may come on a frame of its own.
    const end = await nextLike(expected, wire, run.withinMs);
    if (end === null || !hasFields({ type: 'data', end: true }, end) || 'payload' in end)
      throw new Mismatch(`the end of stream ${String(expected['stream'])}`, gotOf(end, wire));
  },
  alive: (_, run) => answersPings(run),
  quiet: async (_, run) => {
    await answersPings(run);
    const { inbox } = await run.wire();
    const others = inbox.filter(({ type }) => type !== 'pong');
    if (others.length > 0) throw new Mismatch('no frame', others.slice(0, MOST_SHOWN).map(described).join(', '));
  },
  expectClose: async (step, run) => {
    const codes = [step['expectClose']].flat();
    const wire = await run.wire();
    const closed = await wire.ended(run.withinMs + SLOWEST_CLOSE_MS);
    if (closed === null || !codes.includes(closed.code)) throw new Mismatch(`a close with ${codes.join(' or ')}`, gotOf(null, wire));
  },
  close: async (step, run) => {
    (await run.wire()).socket.close(Number(step['close']));
    note(run, `close ${Number(step['close'])}`);
  },
  upgrade: upgradeStep,
  accept: (step, run) => dialerOf(run).accept(step, run),
  expectExit: (step, run) => dialerOf(run).expectExit(step['expectExit'] === true, run.withinMs),
  expectDials: (step, run) => dialerOf(run).expectDials(Number(step['expectDials']), run.withinMs),
};

/** The most frames in place of an expected one that a report shows. */
const MOST_SHOWN = 3;
/** A peer that got a goaway with an error may take 1 s to close (C7). */
const SLOWEST_CLOSE_MS = 1_500;

/** Runs one step. */
export async function runStep(step: Step, run: Run): Promise<void> {
  const act = Object.keys(step).flatMap((key) => ACTS[key] ?? [])[0];
  if (act === undefined)
    throw new TypeError(`expected a step with one of the keys ${Object.keys(ACTS).join(', ')}, got ${described(step)}`);
  await act(step, run);
}

function dialerOf({ target: { dialer } }: Run): DialerSteps {
  if (dialer === undefined) throw new TypeError('expected a dialer as the target');
  return dialer;
}

async function sendMessage(run: Run, message: string | Uint8Array): Promise<void> {
  (await run.wire()).send(message);
  note(run, described(message));
}

function note(run: Run, ...lines: readonly string[]): void {
  run.sent.push(...lines.filter((line) => line !== ''));
}

/** Two round trips: whatever the target answers to earlier frames has come by then. */
async function answersPings({ wire, codec, withinMs }: Run): Promise<void> {
  const connection = await wire();
  for (const nonce of ['check-1', 'check-2']) {
    connection.send(codec.encode({ type: 'ping', nonce }));
    const pong = await connection.take((frame) => hasFields({ type: 'pong', nonce }, frame), withinMs);
    if (pong === null) throw new Mismatch(`a pong with the nonce ${nonce}`, gotOf(null, connection));
  }
}

/** The next frame of the same stream or, for a frame of the connection, of the same type. */
function nextLike({ type, stream }: Envelope, wire: Wire, withinMs: number): Promise<Envelope | null> {
  return wire.take((frame) => (stream == null ? frame['type'] === type : frame['stream'] === stream), withinMs);
}

function isAsExpected(expected: Envelope, got: Envelope): boolean {
  const { end, ...fields } = expected;
  return hasFields(fields, got) && (end !== false || !matches(true, got['end']));
}

/** Describes what came in the place of an expected frame. */
function gotOf(frame: Envelope | null, wire: Wire): string {
  if (frame !== null) return described(frame);
  const others = wire.inbox.slice(0, MOST_SHOWN).map(described);
  return [...others, wire.closed === null ? 'nothing more' : `a close with ${wire.closed.code}`].join(', ');
}

function sliced(encoded: string | Uint8Array, size: number): readonly (string | Uint8Array)[] {
  const slices: (string | Uint8Array)[] = [];
  for (let from = 0; from < encoded.length;) {
    let to = from + size;
    if (typeof encoded === 'string' && /[\udc00-\udfff]/.test(encoded.charAt(to))) to--;
    slices.push(encoded.slice(from, to));
    from = to;
  }
  return slices;
}
