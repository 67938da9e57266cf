import { describe, expect, it } from '@jest/globals';
import { examplesOf } from './example.js';
import { PAGES } from './markdown.js';
import { typeErrorsOf } from './type-check.js';

describe('types of examples', () => {
  const examples = examplesOf(PAGES);
  const errors = typeErrorsOf(examples);

  it.each(examples.map(({ title }, index) => ({ title, found: errors[index] })))(
    'The example $title type-checks against the sources',
    ({ found }) => {
      expect(found).toEqual([]);
    },
  );
});
