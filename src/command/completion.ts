import { Exit, UsageError } from './exit.js';
import type { ExitStatus } from './exit.js';

export const help = `rxmux completion: prints a script that completes commands and options

USAGE
  rxmux completion SHELL

SHELL is bash or zsh.

EXAMPLES
  source <(rxmux completion bash)
  rxmux completion zsh >> ~/.zshrc
`;

/** Runs `rxmux completion`. `pages` holds the help of each command, which lists its options. */
export function run([shell]: readonly string[], pages: Readonly<Record<string, string>>): ExitStatus {
  if (shell !== 'bash' && shell !== 'zsh')
    throw new UsageError(`expected the shell bash or zsh, got ${shell === undefined ? 'none' : `'${shell}'`}`);
  const cases = Object.entries(pages).map(([name, page]) => `    ${name}) words="${optionsOf(page).join(' ')}" ;;`);
  process.stdout.write(`${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_rxmux() {
  local words="${Object.keys(pages).join(' ')}"
  ((COMP_CWORD > 1)) && case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _rxmux rxmux
`);
  return Exit.OK;
}

/** The long options that a page of help lists. */
function optionsOf(page: string): readonly string[] {
  return [...new Set([...page.matchAll(/^ {2}(?:-\w, )?(--[a-z]+)/gm)].map(([, option = '']) => option)), '-H'].filter((option) =>
    page.includes(option),
  );
}
