import { describe } from '@jest/globals';
import { INPUTS } from './callbacks/inputs.js';
import { VALUES } from './callbacks/values.js';
import { describeTable } from './table.js';

describe('inputs', () => {
  describeTable(INPUTS);
});

describe('values', () => {
  describeTable(VALUES);
});
