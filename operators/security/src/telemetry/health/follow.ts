/** One collector from round to round: what it counted since, and since when it has tried in vain to hand events on. Pure. */
import type { Collector } from './collectors.ts';
import { type Growth, growthSince, type Queue, type Reading } from './reading.ts';

/** A collector as it was seen last. */
export interface Known {
  readonly at: number;
  readonly reading: Reading;
  /** By exporter: since when it has had something to hand on, tried, and handed on nothing. */
  readonly heldSince: Readonly<Record<string, number>>;
  /** What it was answered meanwhile: a status of gRPC or HTTP. */
  readonly answer?: string;
  /** When it was last seen to have handed something on. */
  readonly movedAt?: number;
}

/** A collector in this round. */
export interface Followed {
  readonly collector: Collector;
  readonly known: Known;
  /** Undefined when there is nothing to compare with. */
  readonly growth: Growth | undefined;
}

/** The program started that much before it was read, give or take the time that it took to answer. */
const SLACK_MS = 2_000;

export function follow(
  collector: Collector,
  reading: Reading,
  { before, lastRound, at }: { readonly before?: Known | undefined; readonly lastRound?: number; readonly at: number },
): Followed {
  const isYounger = (than: number | undefined) => than !== undefined && at - reading.uptime * 1000 > than + SLACK_MS;
  const growth =
    before !== undefined
      ? growthSince(isYounger(before.at) ? undefined : before.reading, reading)
      : isYounger(lastRound)
        ? growthSince(undefined, reading)
        : undefined;
  const moved = Object.values(growth?.sent ?? {}).some((count) => count > 0);
  const heldSince = Object.fromEntries(
    Object.entries(reading.queues)
      .filter(([exporter, queue]) => isTrying(queue) && (growth?.sent[exporter] ?? 0) === 0)
      // It tried then, it tries now, and nothing went in between: so it has been held up since then at least.
      .map(([exporter]) => [exporter, before?.heldSince[exporter] ?? (wasTrying(before, exporter) ? before.at : at)]),
  );
  const isHeld = Object.keys(heldSince).length > 0;
  // Attempts become rare: what was answered last stands until something else is.
  const answer = isHeld ? (answerIn(growth) ?? before?.answer) : undefined;
  const movedAt = moved ? at : before?.movedAt;
  const known: Known = {
    at,
    reading,
    heldSince,
    ...(answer === undefined ? {} : { answer }),
    ...(movedAt === undefined ? {} : { movedAt }),
  };
  return { collector, known, growth };
}

function isTrying({ bytes, isSending }: Queue): boolean {
  return bytes > 0 && isSending;
}

function wasTrying(before: Known | undefined, exporter: string): before is Known {
  const queue = before?.reading.queues[exporter];
  return queue !== undefined && isTrying(queue);
}

/** The most frequent answer that is no success; a success only where there is no other. */
function answerIn(growth: Growth | undefined): string | undefined {
  const answers = Object.entries(growth?.answers ?? {})
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([status]) => status);
  return answers.find((status) => !isSuccess(status)) ?? answers[0];
}

/** Whether a status of gRPC or HTTP says that all is well. */
export function isSuccess(status: string): boolean {
  return status === 'OK' || /^2\d\d$/.test(status);
}
