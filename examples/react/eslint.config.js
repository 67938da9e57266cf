import { defineConfig, globalIgnores } from 'eslint/config';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import { plainEnglish } from '../../scripts/english/eslint-rule.js';

// The hooks in src/react pass the same rules: the check of this example runs them from the root.
export default defineConfig(
  globalIgnores(['**/dist/', '**/node_modules/']),
  { linterOptions: { noInlineConfig: true } },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strict, reactHooks.configs.flat.recommended],
    plugins: { rxmux: { rules: { 'plain-english': plainEnglish } } },
    rules: {
      'rxmux/plain-english': 'error',
      'react-hooks/exhaustive-deps': ['error', { additionalHooks: 'useStream' }],
      // A payload of type `void` is none.
      '@typescript-eslint/no-invalid-void-type': 'off',
    },
  },
);
