import type { ParseArgsConfig } from 'node:util';
import type { Kind } from 'rxmux/contract';
import { didYouMean, nearNames } from '../../util/near-names.js';
import type { Procedures } from '../contract-module.js';
import { Exit, UsageError } from '../exit.js';
import type { ExitStatus } from '../exit.js';
import { print, safeJson, safeLines } from '../output.js';
import { argumentsOf, payloadOf, settingsOf } from './settings.js';
import type { CallSettings } from './settings.js';

/** The command that makes calls of each kind. */
const MADE_BY: Readonly<Record<Kind, string>> = { request: 'call', stream: 'stream', upload: 'upload', channel: 'upload' };

/** A command that opens a stream. */
interface Caller {
  /** The kinds of calls that it makes. */
  readonly kinds: readonly Kind[];
  /** The last argument. Default a payload. */
  readonly last?: 'file';
  /** The options of this command alone. */
  readonly options?: ParseArgsConfig['options'];
}

/**
 * Reads the arguments of a call, and runs `work` with the payload that opens the stream. With `--list` it prints the contract instead.
 *
 * @throws UsageError for wrong arguments, and for a name that the contract of `--contract` does not have
 */
export async function calling(
  args: readonly string[],
  { kinds, last, options }: Caller,
  work: (settings: CallSettings, payload: unknown) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const given = argumentsOf(args, options);
  const { contract: place, json, list, text, payload: ofOption } = given.values;
  if (list && place === undefined) throw new UsageError('expected --contract FILE beside --list');
  const contract = place === undefined ? null : await (await import('../contract-module.js')).loadContract(place);
  if (contract !== null && list) return printList(contract, json);
  const settings = settingsOf(given, last ?? 'payload');
  const { name, rest } = settings;
  if (contract !== null && name !== undefined) checkCall(name, contract, kinds);
  const payload = await payloadOf(last === 'file' ? (ofOption as string | undefined) : rest, text);
  if (name === undefined) return work(settings, payload);
  return work(settings, payload === undefined ? [name] : [name, payload]);
}

function checkCall(name: string, contract: Procedures, kinds: readonly Kind[]): void {
  const kind = contract.get(name)?.kind;
  if (kind === undefined) {
    const hint = didYouMean(nearNames(name, [...contract.keys()])) || '; --list prints them';
    throw new UsageError(`expected a call of the contract, got '${name}'${hint}`);
  }
  if (!kinds.includes(kind)) throw new UsageError(`'${name}' is ${kind === 'upload' ? 'an' : 'a'} ${kind}: use rxmux ${MADE_BY[kind]}`);
}

async function printList(contract: Procedures, json: boolean): Promise<ExitStatus> {
  for (const [name, { kind }] of contract)
    await print(json ? safeJson(JSON.stringify({ name, kind })) : safeLines(`${MADE_BY[kind].padEnd('upload  '.length)}${name}`));
  return Exit.OK;
}
