import peer from '../../../spec/conformance/peer.json' with { type: 'json' };

/** One step of a row: the key says what it does. `spec/conformance/README.md` describes each. */
export type Step = Readonly<Record<string, unknown>>;

/** A row of `spec/conformance/peer.json`. */
export interface Row {
  /** Group and place in it, such as `6.12`. */
  readonly number: string;
  readonly group: string;
  readonly name: string;
  readonly rules: readonly string[];
  /** The role of the peer that is checked. */
  readonly role: 'acceptor' | 'dialer';
  /** The codecs under which the row makes sense; all if absent. */
  readonly codecs?: readonly string[];
  /** Names of the agreed payloads that the row uses. */
  readonly needs: readonly string[];
  /** Whether the row shows a default of this library, which is a local decision. */
  readonly limits: boolean;
  /** The row runs once for each of these values, which stand for `{"$each": true}`. */
  readonly each: readonly unknown[];
  readonly steps: readonly Step[];
}

type Written = Pick<Row, 'name' | 'rules'> & Partial<Row>;

const DEFAULTS = { role: 'acceptor', needs: [], limits: false, each: [null], steps: [] } as const;

/** All rows, numbered by their places. */
export function allRows(): readonly Row[] {
  return peer.groups.flatMap(({ group, rows }, at) =>
    (rows as unknown as readonly Written[]).map((row, place) => ({ ...DEFAULTS, ...row, group, number: `${at + 1}.${place + 1}` })),
  );
}

/** Whether a row has this number, or is in the group of this number. */
export function isNumbered({ number }: Row, wanted: string): boolean {
  return number === wanted || number.startsWith(`${wanted}.`);
}
