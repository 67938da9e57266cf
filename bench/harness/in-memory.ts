import type { Pair } from 'rxmux/testing';

const IN_FLIGHT = 16;
const QUESTION = { op: 'sum', of: [1, 2] };

/** The CPU of both ends for one request of many, in µs. Both ends are in this process. */
export async function cpuOfARequest({ dialer }: Pair, requests: number): Promise<number> {
  const before = process.cpuUsage();
  const some = async (): Promise<void> => {
    for (let n = 0; n < requests / IN_FLIGHT; n++) await dialer.request(QUESTION);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, some));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}
