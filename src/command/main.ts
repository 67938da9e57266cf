#!/usr/bin/env node
import { didYouMean, nearNames } from '../util/near-names.js';
import { Exit, isSystemError, UsageError } from './exit.js';
import type { ExitStatus } from './exit.js';

interface Command {
  readonly help: string;
  run(args: readonly string[]): Promise<ExitStatus>;
}

interface Listed {
  readonly about: string;
  /** Loads the command's code only when it runs. */
  readonly load: () => Promise<Command>;
}

const COMMANDS: Readonly<Record<string, Listed>> = {
  call: { about: 'send a request, and print the answer', load: () => import('./calls/call.js') },
  stream: { about: 'open a stream, and print each payload', load: () => import('./calls/stream.js') },
  push: { about: 'send a notification', load: () => import('./calls/push.js') },
  upload: { about: 'send a file, and print the answers', load: () => import('./calls/upload.js') },
  bench: { about: 'repeat a request, and print how long the answers took', load: () => import('./calls/bench.js') },
  check: { about: 'check a server or a dialer from outside, over raw frames', load: () => import('./check/cli.js') },
  tap: { about: 'show or record the frames between dialers and a server', load: () => import('./tap/tap.js') },
  replay: { about: "send the dialer's frames of a recording again", load: () => import('./tap/replay.js') },
  serve: { about: 'a server to try things with: echo, files, agreed payloads', load: () => import('./serve/cli.js') },
  create: { about: 'write a new project: a server, a page, a test', load: () => import('./create/cli.js') },
  asyncapi: { about: 'describe a contract as an AsyncAPI document', load: () => import('./asyncapi/cli.js') },
  completion: { about: 'print a script that completes commands and options', load: completion },
};

const HELP = `rxmux: many streams over one WebSocket, from the command line

USAGE
  rxmux COMMAND [options]
  rxmux COMMAND --help      prints the page of a command
  rxmux --version

COMMANDS
${Object.entries(COMMANDS)
  .map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`)
  .join('\n')}
`;

for (const output of [process.stdout, process.stderr])
  output.on('error', (error: NodeJS.ErrnoException) => {
    // Any other failure is one of the system, such as a full disk.
    if (error.code !== 'EPIPE') process.exit(failed(error));
    // The reader of a pipe, such as `head`, has read enough. Without a reader of messages the exit status still counts.
    if (output === process.stdout) process.exit(Exit.OK);
  });
process.exitCode = await main(process.argv.slice(2));

async function main([name, ...args]: readonly string[]): Promise<ExitStatus> {
  if (name === undefined || name === '--help' || name === '-h') return printed(HELP);
  if (name === '--version') return printed(`${(await import('rxmux')).VERSION}\n`);
  if (name === 'help') return main([...args.slice(0, 1), '--help']);
  const command = Object.hasOwn(COMMANDS, name) ? await COMMANDS[name]?.load() : undefined;
  if (command === undefined) {
    const names = Object.keys(COMMANDS);
    return misused(`expected one of the commands ${names.join(', ')}, got '${name}'${didYouMean(nearNames(name, names))}`);
  }
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  if (own.includes('--help') || own.includes('-h')) return printed(command.help);
  try {
    return await command.run(args);
  } catch (error) {
    if (isMisuse(error)) return misused(`${await meant(error, command)}\nTry: rxmux ${name} --help`);
    if (isSystemError(error)) return failed(error);
    throw error;
  }
}

function printed(text: string): ExitStatus {
  process.stdout.write(text);
  return Exit.OK;
}

function failed({ message }: Error): ExitStatus {
  process.stderr.write(`rxmux: ${message}\n`);
  return Exit.CONNECTION;
}

function misused(text: string): ExitStatus {
  process.stderr.write(`rxmux: ${text}\n`);
  return Exit.USAGE;
}

/** Whether an error speaks of the arguments: one of this command, or one of `parseArgs`. */
function isMisuse(error: unknown): error is Error {
  return error instanceof UsageError || (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
}

/** Returns the message of a wrong use. For an unknown option it names near options, if there are any. */
async function meant({ message }: Error, { help }: Command): Promise<string> {
  const [unknown = '', option = ''] = /^Unknown option '(--[^']+)'/.exec(message) ?? [];
  const { optionsOf } = await import('./completion.js');
  const near = nearNames(option, optionsOf(help));
  return near.length === 0 ? message : `${unknown}${didYouMean(near)}`;
}

/** The command that completes all commands, whose help it reads. */
async function completion(): Promise<Command> {
  const { help, run } = await import('./completion.js');
  const pages = async (): Promise<Record<string, string>> =>
    Object.fromEntries(await Promise.all(Object.entries(COMMANDS).map(async ([name, { load }]) => [name, (await load()).help] as const)));
  return { help, run: async (args) => run(args, await pages()) };
}
