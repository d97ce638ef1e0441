import { Transform } from 'node:stream';
import type { FaultAction, WatchEvent } from './rule.ts';
import { statusBody } from './status-body.ts';

/** How an answer ends: with the proper end of the body, or with the connection closed in the middle of it. */
export type Ending = 'clean' | 'abrupt';

/** A stream of watch events that ends, or falls silent, by itself when its faults say so. */
export interface WatchStream extends Transform {
  /** How it ended; only of interest once it has. */
  readonly ending: Ending;
}

const newline = 10;

/** Makes a stream through which the lines of a watch pass and are dropped, doubled, replaced or cut. */
export function watchStream(faults: readonly FaultAction[]): WatchStream {
  let rest: Buffer = Buffer.alloc(0);
  let index = 0;
  let over = false;

  const stream = Object.assign(
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        let data = over ? Buffer.alloc(0) : Buffer.concat([rest, chunk]);
        for (let end = data.indexOf(newline); end >= 0 && !over; end = data.indexOf(newline)) {
          const line = data.subarray(0, end + 1);
          data = data.subarray(end + 1);
          index += 1;
          if (isHalved(faults, index)) {
            stream.push(line.subarray(0, Math.ceil(line.length / 2)));
            finish('abrupt');
          } else {
            for (let copy = copies(faults, line, index); copy > 0; copy -= 1) stream.push(line);
            endIfDue();
          }
        }
        rest = data;
        done();
      },
    }),
    { ending: 'clean' as Ending },
  );

  const finish = (ending: Ending) => {
    over = true;
    stream.ending = ending;
    stream.push(null);
  };
  const endIfDue = () => {
    for (const fault of faults) {
      if (over) return;
      if (fault.kind === 'stall' && index >= (fault.afterEvents ?? 0)) over = true;
      if (fault.kind === 'cut' && index === fault.afterEvents && !fault.halfEvent) finish(fault.how ?? 'abrupt');
      if (fault.kind === 'gone' && index >= (fault.afterEvents ?? 0)) {
        stream.push(goneEvent());
        finish('clean');
      }
    }
  };
  // "After 0 events" is due before the first one comes, which may be never.
  endIfDue();
  return stream;
}

/** How often an event is sent. */
function copies(faults: readonly FaultAction[], line: Buffer, index: number): number {
  let count = 1;
  for (const fault of faults) {
    if (fault.kind !== 'drop' && fault.kind !== 'duplicate') continue;
    const isChosen = fault.events?.(JSON.parse(line.toString('utf8')) as WatchEvent, index) ?? true;
    if (isChosen) count *= fault.kind === 'drop' ? 0 : 2;
  }
  return count;
}

function isHalved(faults: readonly FaultAction[], index: number): boolean {
  return faults.some((fault) => fault.kind === 'cut' && fault.halfEvent && index === (fault.afterEvents ?? 0) + 1);
}

function goneEvent(): string {
  return `${JSON.stringify({ type: 'ERROR', object: statusBody(410, { message: 'too old resource version' }) })}\n`;
}
