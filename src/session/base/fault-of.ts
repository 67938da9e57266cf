import { log } from '../../logger.js';
import { CloseCode } from '../../wire/close-reason.js';
import { ConnectionFault } from '../../wire/fault.js';
import { ResetCode } from '../../wire/reset-code.js';

/** Returns the fault that ends a connection. Logs any other error, because it is a mistake of this side. */
export function faultOf(error: unknown): ConnectionFault {
  if (error instanceof ConnectionFault) return error;
  log('error', 'internal error, the connection is closed', error);
  return new ConnectionFault('internal error', ResetCode.INTERNAL_ERROR, CloseCode.INTERNAL, { cause: error });
}
