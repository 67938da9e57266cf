import { TEMPLATES } from './create/frameworks.js';
import { Exit, UsageError } from './exit.js';
import type { ExitStatus } from './exit.js';

export const help = `rxmux completion: prints a script that completes commands and options

USAGE
  rxmux completion SHELL

SHELL is bash, zsh or fish. Behind --contract FILE, the script also completes
the names of the contract's calls.

EXAMPLES
  source <(rxmux completion bash)
  rxmux completion zsh >> ~/.zshrc
  rxmux completion fish > ~/.config/fish/completions/rxmux.fish
`;

/** The words that each command, or each option, takes, by its name. */
type Options = Readonly<Record<string, readonly string[]>>;

/** The words that may follow an option. */
const WORDS: Options = { '--codec': ['json', 'rich', 'msgpack'], '--template': TEMPLATES };

const SCRIPTS: Readonly<Record<string, (options: Options) => string>> = {
  bash: bashScript,
  zsh: (options) => `(( $+functions[compdef] )) || { autoload -U compinit && compinit; }
autoload -U +X bashcompinit && bashcompinit
${bashScript(options)}`,
  fish: fishScript,
};

const SHELLS = Object.keys(SCRIPTS);

/** Runs `rxmux completion`. `pages` holds the help of each command, which lists its options. */
export function run([shell = 'none']: readonly string[], pages: Readonly<Record<string, string>>): ExitStatus {
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined) throw new UsageError(`expected one of the shells ${SHELLS.join(', ')}, got ${shell}`);
  process.stdout.write(script(Object.fromEntries(Object.entries(pages).map(([name, page]) => [name, optionsOf(page)]))));
  return Exit.OK;
}

function bashScript(options: Options): string {
  const commands = Object.keys(options).join(' ');
  const afterOptions = Object.entries(WORDS).map(([option, words]) => `    *\\ ${option}) words="${words.join(' ')}" ;;`);
  const cases = Object.entries(options).map(([name, words]) => `      ${name}) words="${words.join(' ')}" ;;`);
  return `_rxmux_calls() {
  local at
  for ((at = 1; at < COMP_CWORD; at++)); do
    [[ \${COMP_WORDS[at]} == --contract ]] || continue
    [[ \${COMP_WORDS[at+1]} == = ]] && ((at++))
    "\${COMP_WORDS[0]}" call --list --contract "\${COMP_WORDS[at+1]}" 2>/dev/null | while read -r _ name; do echo "$name"; done
  done
}
_rxmux() {
  local words= word="\${COMP_WORDS[COMP_CWORD]}"
  case "$COMP_CWORD \${COMP_WORDS[COMP_CWORD-1]}" in
    1\\ *) words="${commands}" ;;
    2\\ help) words="${commands}" ;;
    2\\ completion) words="${SHELLS.join(' ')}" ;;
${afterOptions.join('\n')}
    *\\ --contract) ;;
    *) if [[ $word == -* ]]; then case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    esac; else words="$(_rxmux_calls)"; fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _rxmux rxmux
`;
}

function fishScript(options: Options): string {
  const ofCommands = Object.entries(options).flatMap(([name, words]) =>
    words.map((word) => `complete -c rxmux -n '__fish_seen_subcommand_from ${name}' ${fishOption(word)}`),
  );
  const calling = Object.keys(options).filter((name) => options[name]?.includes('--contract'));
  return `complete -c rxmux -n __fish_use_subcommand -f -a '${Object.keys(options).join(' ')}'
complete -c rxmux -n '__fish_seen_subcommand_from completion' -f -a '${SHELLS.join(' ')}'
${ofCommands.join('\n')}
function __rxmux_calls
  set -l words (commandline -opc)
  set -l at (contains -i -- --contract $words); or return
  rxmux call --list --contract $words[(math $at + 1)] 2>/dev/null | string replace -r '^\\S+\\s+' ''
end
complete -c rxmux -n '__fish_seen_subcommand_from ${calling.join(' ')}' -a '(__rxmux_calls)'
`;
}

function fishOption(word: string): string {
  const option = word.replace(/^--/, '-l ').replace(/^-(?=\w$)/, '-s ');
  const words = WORDS[word];
  return words === undefined ? option : `${option} -x -a '${words.join(' ')}'`;
}

/** The long options that a page of help lists, and the one that is mostly written short. */
export function optionsOf(page: string): readonly string[] {
  const long = [...page.matchAll(/^ {2}(?:-\w, )?(--[a-z]+)/gm)].map(([, option = '']) => option);
  return [...new Set(long), ...(page.includes('-H') ? ['-H'] : [])];
}
