import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';
import { dialable, isAddress, isSocketAddress, withoutPassword } from '../address.js';
import { UsageError, notUsable } from '../exit.js';
import { headersOf, timeoutOf } from '../headers.js';

/** The arguments that every call has. */
export interface CallSettings {
  readonly url: string;
  readonly codec: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly json: boolean;
  /** The name of a contract's call; `undefined` where the payload is all that opens the stream. */
  readonly name: string | undefined;
  /** The argument after the name. */
  readonly rest: string | undefined;
  /** The options of one command alone. */
  readonly own: Readonly<Record<string, unknown>>;
}

/** The part of each call's help that is the same. */
export const COMMON_HELP = `  --codec NAME      json, rich or msgpack (default json)
  --timeout MS      wait so long for the connection, and for the answer to a
                    request (default 10000; 0 waits without end)
  -H 'NAME: VALUE'  send a header with the handshake; may come repeatedly
  --json            print one JSON object a line; bytes become base64
  --contract FILE   check the name by the contract that this module exports;
                    FILE#api names one of its exports
  --list            print the calls of the contract, and call none
  -h, --help        print this page

NAME
  The name of a contract's call, such as add or chat.say. It begins with a
  letter, _ or $. The words true, false and null are payloads.

PAYLOAD
  JSON as it is       {"op":"sum","of":[1,2]}
  @FILE               the JSON of a file
  -                   the JSON of the standard input
  nothing             no payload
  With --text, the argument, the file or the input is a text, and no JSON.

EXIT STATUS
  0  all went well                    4  the remote refused the stream
  2  wrong arguments                  5  no answer in time
  3  the remote failed, or reset the  6  no connection, or a lost one
     stream                         130  Ctrl-C, which cancels the stream
                                    143  SIGTERM, as Ctrl-C
`;

const OPTIONS = {
  codec: { type: 'string', default: 'json' },
  timeout: { type: 'string', default: '10000' },
  header: { type: 'string', short: 'H', multiple: true },
  json: { type: 'boolean', default: false },
  text: { type: 'boolean', default: false },
  contract: { type: 'string' },
  list: { type: 'boolean', default: false },
} as const;

interface CommonValues {
  readonly codec: string;
  readonly timeout: string;
  readonly header?: readonly string[];
  readonly json: boolean;
  readonly text: boolean;
  readonly contract?: string;
  readonly list: boolean;
}

/** Arguments as they were read. */
export interface CallArguments {
  readonly positionals: readonly string[];
  readonly values: CommonValues & CallSettings['own'];
}

/** Reads the arguments of a call. */
export function argumentsOf(args: readonly string[], options: ParseArgsConfig['options'] = {}): CallArguments {
  const { positionals, values } = parseArgs({ args: [...args], allowPositionals: true, options: { ...OPTIONS, ...options } });
  return { positionals, values: values satisfies CommonValues };
}

/**
 * Returns the settings of a call.
 *
 * @param last the argument that may stand after the name
 */
export function settingsOf({ positionals, values }: CallArguments, last: 'payload' | 'file'): CallSettings {
  const at = addressAt(positionals);
  const url = positionals[at];
  const others = positionals.filter((_, index) => index !== at);
  if (url === undefined) throw new UsageError(`expected an address with ws: or wss:, got ${withoutPassword(others.join(' ')) || 'none'}`);
  const { codec, timeout, header, json, text } = values;
  return {
    url: dialable(url),
    codec,
    headers: headersOf(header),
    timeoutMs: timeoutOf(timeout, 0),
    json,
    ...namedIn(others, last, text),
    own: values,
  };
}

/** The place of the address. An address of HTTP may also be a payload. */
function addressAt(positionals: readonly string[]): number {
  const at = positionals.findIndex(isSocketAddress);
  return at === -1 ? positionals.findIndex(isAddress) : at;
}

/** A name begins as no JSON does. */
const NAME = /^(?!(?:true|false|null)\s*$)[\p{L}_$]/u;

/** Returns the name of a call, and the argument after it. */
function namedIn(others: readonly string[], last: 'payload' | 'file', isText: boolean): Pick<CallSettings, 'name' | 'rest'> {
  const [first, second] = others;
  if (others.length > 2) throw new UsageError(`expected at most a name and a ${last} beside the address, got ${others.length} arguments`);
  if (second === undefined) {
    const isName = first !== undefined && last === 'payload' && !isText && NAME.test(first);
    return isName ? { name: first, rest: undefined } : { name: undefined, rest: first };
  }
  if (first !== undefined && NAME.test(first)) return { name: first, rest: second };
  const hint = last === 'file' ? ': --payload takes a payload' : '';
  throw new UsageError(`expected the name of a call before the ${last}, got '${first}'${hint}`);
}

/** Editors of Windows write it at the beginning of a file. */
const BYTE_ORDER_MARK = /^\ufeff/;

/** Returns the payload of an argument; `undefined` for none. */
export async function payloadOf(argument: string | undefined, isText: boolean): Promise<unknown> {
  if (argument === undefined) return undefined;
  const text = await textOf(argument);
  if (isText) return text;
  try {
    return JSON.parse(text.replace(BYTE_ORDER_MARK, '')) as unknown;
  } catch (error) {
    return notUsable('JSON as the payload (--text sends a text as it is)')(error);
  }
}

async function textOf(argument: string): Promise<string> {
  if (argument === '-') return (await buffer(process.stdin)).toString();
  if (!argument.startsWith('@')) return argument;
  return readFile(argument.slice(1), 'utf8').catch(notUsable('a file'));
}
