import { describe, expect, it } from '@jest/globals';
import { Example } from './example.js';
import { fences, PAGES } from './markdown.js';
import { typeErrorsOf } from './type-check.js';

const examples = PAGES.flatMap((page) => fences(page, 'ts')).map((fence) => new Example(fence));

describe('examples', () => {
  const errors = typeErrorsOf(examples);

  it.each(examples.map(({ title }, index) => ({ title, found: errors[index] })))(
    'The example $title type-checks against the sources',
    ({ found }) => {
      expect(found).toEqual([]);
    },
  );

  // The quick start is two processes, which quick-start.spec.ts starts.
  const alone = examples.filter(({ fence, prints }) => prints.length > 0 && !fence.text.includes('rxmux/node'));

  it.each(alone)('The example $title prints what its comments say', async (example) => {
    expect(await example.run()).toEqual(example.prints);
  });
});
