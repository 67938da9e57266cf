import { Component, signal } from '@angular/core';
import { muxResource } from 'rxmux/angular';
import { client } from 'rxmux/contract';
import { api } from './api';

/** A file is sent while this component lives. Another file stops the upload before it. */
@Component({
  selector: 'app-upload',
  template: `
    <section>
      <h2>Upload</h2>
      <input #picker type="file" (change)="file.set(picker.files?.[0])" />
      @if (file(); as chosen) {
        <p>
          <progress [max]="chosen.size" [value]="arrived.value()"></progress>
          <span id="upload">{{ arrived.value() }} of {{ chosen.size }} bytes, {{ arrived.status() }}</span>
        </p>
      }
    </section>
  `,
})
export class Upload {
  protected readonly file = signal<File | undefined>(undefined);
  protected readonly arrived = muxResource({
    params: this.file,
    stream: ({ params, peer }) => client(peer, api).store({ name: params.name }, params),
    defaultValue: 0,
  });
}
