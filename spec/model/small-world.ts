import { JsonCodec } from '../../src/codec/json.js';
import type { CloseCause } from '../../src/stream/end.js';
import { Connection } from '../../src/connection/connection.js';
import { resolveLimits } from '../../src/wire/limits.js';
import { OutgoingFrame } from '../../src/wire/outgoing.js';
import { ResetCode } from '../../src/wire/codes.js';
import { Holder, scriptedOwner } from '../support/session/rig.js';
import { isPrefix, show } from './model.js';
import { ENDS, otherEnd, Pipe } from './pipe.js';
import type { End } from './pipe.js';
import { demand } from './violation.js';

/** The acts of one side on one stream, in order: a value, the end, a cancel or a failure. */
export type Program = readonly ('value' | 'end' | 'cancel' | 'fail')[];

/** The programs of the opener and the answerer of each stream. Each side opens one stream. */
export type Programs = readonly [opener: Program, answerer: Program];

/** A possible next event. */
export type Choice = `send ${End} ${number}` | `deliver ${End}` | `cut ${'clean' | 'lost'} ${End}`;

export const CUTS: readonly Choice[] = ['cut lost 0', 'cut clean 0', 'cut clean 1'];

const CODEC = new JsonCodec();
const LIMITS = resolveLimits();
const IDS = [1, 2] as const;

const opens = (end: End, id: number): boolean => id === end + 1;

interface Part {
  holder: Holder | null;
  /** The next step of its program. */
  step: number;
  readonly sent: string[];
}

/** Two connections, two streams, and the remaining acts of both sides. Neither chance nor time plays a part. */
export class SmallWorld {
  readonly #pipe = new Pipe('mux.v1.json');
  readonly #connections: readonly Connection[];
  readonly #parts = ENDS.map(() => new Map<number, Part>(IDS.map((id) => [id, { holder: null, step: 0, sent: [] }])));
  #cut = false;

  constructor(private readonly programs: Programs) {
    this.#connections = ENDS.map((end) => this.#connectionOf(end));
    for (const connection of this.#connections) connection.start();
  }

  /** The possible next events, without cuts. */
  get choices(): readonly Choice[] {
    const choices: Choice[] = [];
    for (const end of ENDS) {
      for (const [id, part] of this.#part(end)) if (this.#canSend(end, id, part)) choices.push(`send ${end} ${id}`);
      if (this.#pipe.undelivered(end).length > 0) choices.push(`deliver ${end}`);
    }
    return choices;
  }

  /** The relevant state of the world. Two worlds with one key have the same future. */
  get key(): string {
    const sides = ENDS.map((end) => {
      const parts = [...this.#part(end).values()].map(({ holder, step }) => [
        step,
        holder?.live.phase,
        holder?.payloads.length,
        holder?.ends.map((cause) => (cause.how === 'reset' ? [cause.by, cause.code] : cause.how)),
      ]);
      return [parts, this.#pipe.undelivered(end)];
    });
    return JSON.stringify(sides);
  }

  do(choice: Choice): void {
    const [act, a, b] = choice.split(' ');
    const end: End = (act === 'cut' ? b : a) === '0' ? 0 : 1;
    if (act === 'send') this.#send(end, Number(b));
    else if (act === 'deliver') this.#pipe.deliver(end);
    else {
      this.#cut = true;
      this.#pipe.cut(end, a === 'clean');
      for (const reader of ENDS) while (this.#pipe.deliver(reader));
    }
  }

  /** Checks the invariants, and the final ones when nothing can happen any more. */
  check(): void {
    const over = this.#cut || this.choices.length === 0;
    for (const end of ENDS) {
      for (const [id, { holder }] of this.#part(end)) {
        if (holder === null) continue;
        const { ends, open, payloads } = holder;
        const there = this.#part(otherEnd(end)).get(id);
        const got = [...(open === null ? [] : [open.payload]), ...payloads];
        const name = `stream ${id} of side ${end}`;
        demand(ends.length <= 1, 'a stream ends once', () => `${name}: ${show(ends)}`);
        demand(isPrefix(got, there?.sent ?? []), 'payloads in order', () => `${name} got ${show(got)} of ${show(there?.sent)}`);
        if (!over) continue;
        demand(ends.length === 1, 'a stream ends once', () => `${name} never ended`);
        const whole = ends[0]?.how === 'ended' && there?.holder?.ends[0]?.how === 'ended';
        demand(!whole || got.length === there.sent.length, 'payloads complete', () => `${name} got ${show(got)} of ${show(there?.sent)}`);
        demand(
          ends.every((cause) => this.#allows(end, id, cause)),
          'resets have a reason',
          () => `${name}: ${show(ends)}`,
        );
      }
      if (over) this.#checkEmpty(end);
    }
  }

  /** Whether a program, or the cut, explains the end of a stream. */
  #allows(end: End, id: number, cause: CloseCause): boolean {
    const [own, other] = [this.#program(end, id), this.#program(otherEnd(end), id)];
    if (cause.how === 'lost') return this.#cut;
    if (cause.how === 'ended') return own.includes('end') && other.includes('end');
    const act = cause.code === ResetCode.CANCEL ? 'cancel' : cause.code === ResetCode.APPLICATION_ERROR ? 'fail' : null;
    return act !== null && cause.by !== 'library' && (cause.by === 'user' ? own : other).includes(act);
  }

  #checkEmpty(end: End): void {
    const connection = this.#connections[end];
    if (connection === undefined) return;
    for (const { holder } of this.#part(end).values()) holder?.live.handlerSettled();
    const { streams, places, budget, outbound } = connection;
    const kept = [streams.size, places, budget.held.used, budget.attached.used, outbound.bytes, outbound.frames];
    demand(
      kept.every((each) => each === 0),
      'nothing held',
      () => `side ${end} keeps ${kept.join()}`,
    );
    demand(!this.#cut || !this.#pipe.sockets[end].read, 'no listener left', () => `side ${end} still reads`);
  }

  #canSend(end: End, id: number, { holder, step }: Part): boolean {
    const program = this.#program(end, id);
    if (step >= program.length || this.#pipe.sockets[end].closed !== null) return false;
    return holder === null
      ? opens(end, id)
      : !holder.live.sealed || (program[step] !== 'value' && program[step] !== 'end' && holder.live.phase !== 'closed');
  }

  #send(end: End, id: number): void {
    const part = this.#part(end).get(id);
    const connection = this.#connections[end];
    if (part === undefined || connection === undefined) return;
    const act = this.#program(end, id)[part.step] ?? 'end';
    const type = part.holder === null ? 'open' : 'data';
    part.holder ??= adopted(connection);
    const { live } = part.holder;
    const payload = `${end}${id}${part.step++}`;
    if (act === 'cancel') live.reset('user', ResetCode.CANCEL, '');
    else if (act === 'fail') live.reset('user', ResetCode.APPLICATION_ERROR, '');
    else {
      part.sent.push(payload);
      live.send(new OutgoingFrame({ type, payload, end: act === 'end' }, CODEC.encodePayload(payload), CODEC));
    }
  }

  #part(end: End): Map<number, Part> {
    return this.#parts[end] ?? new Map<number, Part>();
  }

  #program(end: End, id: number): Program {
    return this.programs[opens(end, id) ? 0 : 1];
  }

  #connectionOf(end: End): Connection {
    return new Connection({
      codec: CODEC,
      isDialer: end === 0,
      keepalive: null,
      maxFrameBytes: 65_536,
      number: 1,
      transport: this.#pipe.sockets[end],
      limits: LIMITS,
      owner: scriptedOwner({
        accept: (stream) => {
          const part = this.#part(end).get(Number(stream.id));
          if (part !== undefined && stream instanceof Holder) part.holder = stream;
          stream.handlerStarted();
        },
      }),
    });
  }
}

function adopted(connection: Connection): Holder {
  const holder = new Holder(connection.owner, true);
  connection.adopt(holder);
  return holder;
}
