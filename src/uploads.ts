/**
 * Uploads with progress, and uploads that go on after a lost socket or a deploy.
 *
 * @example
 * ```ts
 * import { receiveUpload, resumableUpload, withProgress } from 'rxmux/uploads';
 * ```
 *
 * @module rxmux/uploads
 */
export { withProgress } from './uploads/with-progress.js';
export { receiveUpload, resumableUpload } from './uploads/resumable.js';
export type { Resumable, UploadStore } from './uploads/resumable.js';
export { VERSION } from './version.js';
