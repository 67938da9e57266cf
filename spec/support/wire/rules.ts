import type { LinkMessage, Side } from '../../../src/testing.js';

/** The messages of one stream so far, on the sender's side. */
interface Sent {
  /** Whether the sender has finished a frame of the stream. */
  begun: boolean;
  /** The type of the frame being sent in fragments; `null` between two frames. */
  cut: string | null;
  over: 'open' | 'ended' | 'reset';
}

/**
 * Checks the rules for senders (E, F11, S1-S5, S8, C5) on each written message. Actions of the receiver do not matter,
 * because frames of both sides may cross.
 */
export class WireRules {
  readonly broken: string[] = [];
  readonly #sides = { dialer: new Map<number, Sent>(), acceptor: new Map<number, Sent>() };
  readonly #lastOpened = { dialer: -1, acceptor: 0 };
  readonly #toldToStop = { dialer: false, acceptor: false };

  /** Records that a side has read a goaway. */
  readGoaway(side: Side): void {
    this.#toldToStop[side] = true;
  }

  wrote({ from, frame }: LinkMessage): void {
    const { type, stream, more = false, end = false, headers = null, trailers = null } = frame;
    if (stream == null) return;
    const blame = (what: string): void => void this.broken.push(`${from}: ${type} of stream ${stream}: ${what}`);
    const own = stream % 2 === (from === 'dialer' ? 1 : 0);
    const known = this.#sides[from].get(stream);
    const sent = known ?? { begun: false, cut: null, over: 'open' };
    this.#sides[from].set(stream, sent);
    if (sent.over === 'reset' || (sent.over === 'ended' && type !== 'reset')) blame(`after it was ${sent.over}`);
    if (sent.cut !== null && type !== sent.cut && type !== 'reset') blame(`between the fragments of ${sent.cut}`);
    if (type === 'open' && sent.cut === null) this.#checkOpen(from, stream, own, known !== undefined, blame);
    if (type === 'data' && own && !sent.begun) blame('before its open');
    if (!own && !this.#sides[from === 'dialer' ? 'acceptor' : 'dialer'].has(stream)) blame('a stream without an open');
    if (headers !== null && (own ? type !== 'open' : type !== 'data' || sent.begun)) blame('headers after the first frame');
    if (trailers !== null && !end) blame('trailers without an end');
    sent.cut = more ? type : null;
    if (more) return;
    if (type === 'reset') sent.over = 'reset';
    else if (end) sent.over = 'ended';
    sent.begun = true;
  }

  #checkOpen(from: Side, stream: number, own: boolean, known: boolean, blame: (what: string) => void): void {
    if (!own || known) blame('an id that is taken');
    if (stream <= this.#lastOpened[from]) blame(`after ${this.#lastOpened[from]}`);
    if (this.#toldToStop[from]) blame('after a goaway');
    this.#lastOpened[from] = stream;
  }
}
