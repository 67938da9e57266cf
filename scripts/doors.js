// The entry points of the package, by their names in `src/`. The exports of package.json are the one list of them; some name plain files.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const { exports } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));

export const DOORS = Object.keys(exports)
  .filter((subpath) => !/\.(json|html)$/.test(subpath))
  .map((subpath) => (subpath === '.' ? 'index' : subpath.slice('./'.length)));
