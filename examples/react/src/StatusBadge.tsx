import { useMuxStatus } from 'rxmux/react';

const WORDS = { connecting: 'connecting', open: 'live', waiting: 'reconnecting', draining: 'moving', closed: 'offline' };

export function StatusBadge() {
  const status = useMuxStatus();
  return <output className={`badge ${status.state}`}>{WORDS[status.state]}</output>;
}
