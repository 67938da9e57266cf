import { INPUTS } from './callbacks/inputs.js';
import { describeTable } from './table.js';

describeTable(INPUTS);
