import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const fromRoot = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const { exports } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8'));

/** Each entry point of the package, as its source. */
const doors = Object.keys(exports)
  .filter((subpath) => !/\.(json|html)$/.test(subpath))
  .map((subpath) => fromRoot(`src/${subpath === '.' ? 'index' : subpath.slice(2)}.ts`));

/** Types that only infer other types. No program names them. */
const INFERENCE = {
  'src/contract/answer.ts': ['ContextIn', 'WithoutContext'],
  'src/contract/carried.ts': ['Allowed', 'Arrived', 'ArrivedOver', 'CarriedOr', 'Kept', 'Refused', 'Sendable', 'Uncarried', 'Unchanged'],
  'src/contract/client.ts': ['Output'],
  'src/contract/procedure.ts': ['TypesOf', 'ValueOf', 'ErrorValues', 'MaybeSchema', 'MaybeSchemas'],
  'src/testing/fake-peer.ts': ['Answered'],
};
/** Parameters that only a session passes. */
const OWN_PARAMETERS = { 'src/wire/reassembly.ts': ['HeldBytes', 'FragmentClock'] };

const named = (types) => Object.entries(types).flatMap(([file, names]) => names.map((name) => `${file}:${name}`));

export default {
  name: 'API',
  entryPoints: doors,
  tsconfig: 'tsconfig.json',
  plugin: ['typedoc-plugin-markdown'],
  out: '../api',
  cleanOutputDir: true,
  readme: 'none',
  entryFileName: 'index',
  membersWithOwnFile: ['Class', 'Interface', 'Function', 'TypeAlias', 'Variable'],
  hidePageHeader: true,
  hideBreadcrumbs: true,
  disableSources: true,
  excludePrivate: true,
  excludeProtected: true,
  excludeInternal: true,
  excludeExternals: true,
  parametersFormat: 'table',
  propertiesFormat: 'table',
  interfacePropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  logLevel: 'Warn',
  treatWarningsAsErrors: true,
  treatValidationWarningsAsErrors: true,
  validation: { notExported: true, invalidLink: true, invalidPath: true, notDocumented: true, unusedMergeModuleWith: true },
  intentionallyNotExported: [...named(INFERENCE), ...named(OWN_PARAMETERS)],
  // Parts of types that are written in place: the type around them says what they are.
  intentionallyNotDocumented: [
    'rxmux/contract.Payload.__type.~types',
    'rxmux/svelte.useMuxStatus.__type.current',
    'rxmux.StreamHandler.__type.bivarianceHack',
    'rxmux.ofDirection.__type.__type.direction',
    'rxmux.ofStream.__type.__type.frame',
    'rxmux.ofStream.__type.__type.frame.__type.stream',
    'rxmux.ofType.__type.__type.frame',
    'rxmux.ofType.__type.__type.frame.__type.type',
  ],
};
