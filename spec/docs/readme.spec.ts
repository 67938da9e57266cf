import { describe, expect, it } from '@jest/globals';
import { examplesOf } from './example.js';
import { PAGES } from './markdown.js';

describe('examples', () => {
  // The quick start is two processes, which quick-start.spec.ts starts.
  const alone = examplesOf(PAGES).filter(({ fence, prints }) => prints.length > 0 && !fence.text.includes('rxmux/node'));

  it.each(alone)('The example $title prints what its comments say', async (example) => {
    expect(await example.run()).toEqual(example.prints);
  });
});
