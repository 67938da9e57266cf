import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';
import { dialable, isAddress, withoutPassword } from '../address.js';
import { UsageError } from '../exit.js';
import { headersOf, timeoutOf } from '../headers.js';

/** The arguments that every call has. */
export interface CallSettings {
  readonly url: string;
  readonly codec: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly json: boolean;
  /** The other positional arguments. */
  readonly rest: readonly string[];
  /** The options of one command alone. */
  readonly own: Readonly<Record<string, unknown>>;
}

/** The part of each call's help that is the same. */
export const COMMON_HELP = `  --codec NAME      json or msgpack (default json)
  --timeout MS      wait so long for the connection, and for the answer to a
                    request (default 10000; 0 waits without end)
  -H 'NAME: VALUE'  send a header with the handshake; may come repeatedly
  --json            print one JSON object a line; bytes become base64
  -h, --help        print this page

PAYLOAD
  JSON as it is       {"op":"sum","of":[1,2]}
  @FILE               the JSON of a file
  -                   the JSON of the standard input
  nothing             no payload
  With --text, the argument, the file or the input is a text, and no JSON.

EXIT STATUS
  0  all went well                    4  the remote refused the stream
  2  wrong arguments                  5  a time-out
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
} as const;

interface CommonValues {
  readonly codec: string;
  readonly timeout: string;
  readonly header?: readonly string[];
  readonly json: boolean;
}

/**
 * Reads the arguments of a call.
 *
 * @param most the most positional arguments after the URL
 */
export function settingsOf(args: readonly string[], most: number, options: ParseArgsConfig['options'] = {}): CallSettings {
  const { positionals, values } = parseArgs({ args: [...args], allowPositionals: true, options: { ...OPTIONS, ...options } });
  const at = positionals.findIndex(isAddress);
  const url = positionals[at];
  const rest = positionals.filter((_, index) => index !== at);
  if (url === undefined) throw new UsageError(`expected an address with ws: or wss:, got ${withoutPassword(rest.join(' ')) || 'none'}`);
  if (rest.length > most) throw new UsageError(`expected at most ${most} arguments beside the address, got ${rest.length}`);
  const { codec, timeout, header, json } = values as CommonValues;
  return { url: dialable(url), codec, headers: headersOf(header), timeoutMs: timeoutOf(timeout, 0), json, rest, own: values };
}

/** Editors of Windows write it at the beginning of a file. */
const BYTE_ORDER_MARK = /^\ufeff/;

/** Returns the payload of an argument; `undefined` for none. */
export async function payloadOf(argument: string | undefined, { own }: CallSettings): Promise<unknown> {
  if (argument === undefined) return undefined;
  const text = await textOf(argument);
  if (own['text'] === true) return text;
  try {
    return JSON.parse(text.replace(BYTE_ORDER_MARK, '')) as unknown;
  } catch (error) {
    throw new UsageError(`expected JSON as the payload (--text sends a text as it is): ${(error as Error).message}`);
  }
}

async function textOf(argument: string): Promise<string> {
  if (argument === '-') return (await buffer(process.stdin)).toString();
  if (!argument.startsWith('@')) return argument;
  return readFile(argument.slice(1), 'utf8').catch((error: unknown) => {
    throw new UsageError(`expected a file: ${(error as Error).message}`);
  });
}
