import { useState } from 'react';
import { EMPTY } from 'rxjs';
import { useStream } from 'rxmux/react';
import { calls } from './mux.ts';

const send = (file: File | undefined) => (file === undefined ? EMPTY : calls.store({ name: file.name }, file));

/** A file is sent while this component is mounted. Another file stops the upload before it. */
export function Upload() {
  const [file, setFile] = useState<File>();
  const { value = 0, error, status } = useStream(send, [file]);
  return (
    <section>
      <h2>Upload</h2>
      <input type="file" onChange={(event) => setFile(event.target.files?.[0])} />
      {file !== undefined && (
        <p>
          <progress max={file.size} value={value} />{' '}
          <span id="upload">{status === 'error' ? String(error) : `${value} of ${file.size} bytes, ${status}`}</span>
        </p>
      )}
    </section>
  );
}
