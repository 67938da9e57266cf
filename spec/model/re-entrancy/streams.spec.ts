import { STREAMS } from './callbacks/streams.js';
import { describeTable } from './table.js';

describeTable(STREAMS);
