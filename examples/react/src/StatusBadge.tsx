import { useMuxStatus } from 'rxmux/react';

const WORDS = { connecting: 'connecting', open: 'live', waiting: 'reconnecting', draining: 'moving', closed: 'offline' };

export function StatusBadge() {
  const status = useMuxStatus();
  const dialsAgain = status.state === 'connecting' && status.last !== null;
  return <output className={`badge ${status.state}`}>{dialsAgain ? WORDS.waiting : WORDS[status.state]}</output>;
}
