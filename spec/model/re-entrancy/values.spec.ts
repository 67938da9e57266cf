import { VALUES } from './callbacks/values.js';
import { describeTable } from './table.js';

describeTable(VALUES);
