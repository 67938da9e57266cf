import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const KINDS = [
  ['functions', 'Functions'],
  ['classes', 'Classes'],
  ['interfaces', 'Interfaces'],
  ['type-aliases', 'Types'],
  ['variables', 'Values'],
];

/** The sidebars of the generated pages, by path: each shows all entry points, and the names of its own. */
export function apiSidebars(directory) {
  const others = readdirSync(join(directory, 'rxmux')).filter((name) => existsSync(join(directory, 'rxmux', name, 'index.md')));
  const doors = ['rxmux', ...others.map((name) => `rxmux/${name}`)];
  const links = doors.map((door) => ({ text: door, link: `/api/${door}/` }));
  return Object.fromEntries(doors.map((door) => [`/api/${door}/`, [{ text: 'Entry points', items: links }, ...namesOf(directory, door)]]));
}

function namesOf(directory, door) {
  return KINDS.filter(([kind]) => existsSync(join(directory, door, kind))).map(([kind, text]) => ({
    text,
    items: readdirSync(join(directory, door, kind))
      .map((file) => file.replace('.md', ''))
      .map((name) => ({ text: name, link: `/api/${door}/${kind}/${name}` })),
  }));
}
