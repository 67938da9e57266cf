import { Component, computed } from '@angular/core';
import { injectStatus } from 'rxmux/angular';

const WORDS = { connecting: 'connecting', open: 'live', waiting: 'reconnecting', draining: 'moving', closed: 'offline' };

@Component({
  selector: 'app-badge',
  template: `<output [class]="'badge ' + status().state">{{ word() }}</output>`,
})
export class Badge {
  protected readonly status = injectStatus();
  protected readonly word = computed(() => WORDS[this.status().state]);
}
