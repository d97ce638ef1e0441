/** An alarm clock for a loop that waits for news or for a time: anybody may ring it, and a ring while nobody waits is kept. */
import type { Clock } from '@keelson/kube';

export class Wake {
  readonly #clock: Clock;
  #rung = false;
  #alarm: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the wait that is under way, or the next one. */
  ring(): void {
    this.#rung = true;
    this.#alarm?.abort();
  }

  /** Resolves when it is rung, after this long, or when the signal is aborted. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    this.#alarm = new AbortController();
    if (!this.#rung && !signal.aborted) {
      // A timer holds 24.8 days at most, and fires at once beyond that.
      const bounded = Math.min(Math.max(0, ms), 2 ** 31 - 1);
      await this.#clock.sleep(bounded, AbortSignal.any([this.#alarm.signal, signal])).catch(() => undefined);
    }
    this.#rung = false;
    this.#alarm = undefined;
  }
}
