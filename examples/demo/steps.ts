import type { Step } from './step.js';
import { cancel } from './steps/cancel.js';
import { drain } from './steps/drain.js';
import { overtaking } from './steps/overtaking.js';
import { push } from './steps/push.js';
import { remoteError } from './steps/remote-error.js';
import { request } from './steps/request.js';
import { upload } from './steps/upload.js';
import { vitals } from './steps/vitals.js';

/** The steps of the demo, in order. */
export const STEPS: readonly Step[] = [request, vitals, upload, overtaking, push, remoteError, cancel, drain];
