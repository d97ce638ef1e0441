/** A pulse of the event loop: a process whose timers no longer run is wedged, even if it still answers. */
import { after, type Clock } from '../clock.ts';
import type { Finding } from './checks.ts';

const BEAT_MS = 1_000;
const WEDGED_MS = 15_000;

export interface Heartbeat {
  check(): Finding;
  stop(): void;
}

export function startHeartbeat(clock: Clock): Heartbeat {
  let lastAt = clock.monotonic();
  let cancel = (): void => {};
  const beat = (): void => {
    lastAt = clock.monotonic();
    cancel = after(clock, BEAT_MS, beat);
  };
  beat();
  return {
    check() {
      const late = clock.monotonic() - lastAt;
      const subject = 'event loop';
      return late > WEDGED_MS
        ? {
            subject,
            state: 'failed',
            message: `stood still for ${Math.round(late / 1_000)} s`,
            remedy: 'restart the process',
          }
        : { subject, state: 'ok', message: 'alive' };
    },
    stop: () => cancel(),
  };
}
