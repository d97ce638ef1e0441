import { Fault } from '@keelson/kube';
import { describe, expect, it } from 'vitest';
import { createLogger, type LoggerOptions } from './logger.ts';

function capture(options: LoggerOptions = {}): { logger: ReturnType<typeof createLogger>; lines: string[] } {
  const lines: string[] = [];
  return { logger: createLogger({ ...options, destination: { write: (text) => lines.push(text) } }), lines };
}

describe('json logs', () => {
  it('carry level, time, message and the fields of every parent', () => {
    const { logger, lines } = capture();
    logger.child({ controller: 'website' }).child({ key: 'shop/front' }).info({ steps: 3 }, 'applied');
    const line = JSON.parse(lines[0] ?? '');
    expect(line).toMatchObject({
      level: 'info',
      message: 'applied',
      controller: 'website',
      key: 'shop/front',
      steps: 3,
    });
    expect(Date.parse(line.time)).not.toBeNaN();
  });

  it('leave out what is below their level', () => {
    const { logger, lines } = capture({ level: 'warn' });
    logger.info({}, 'quiet');
    logger.warn({}, 'loud');
    expect(lines).toHaveLength(1);
  });

  it('write no secret, wherever it stands', () => {
    const { logger, lines } = capture();
    logger.child({ bearerToken: 'hunter2' }).error(
      {
        password: 'hunter2',
        headers: { Authorization: 'Bearer hunter2', 'x-api-key': 'hunter2' },
        object: { kind: 'Secret', metadata: { name: 'db' }, data: { user: 'hunter2' }, stringData: { a: 'hunter2' } },
        list: [{ 'client-key-data': 'hunter2' }],
        error: Object.assign(new Error('no'), { clientSecret: 'hunter2' }),
        hasToken: true,
        secretName: 'db',
      },
      'refused',
    );
    expect(lines[0]).not.toContain('hunter2');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      hasToken: true,
      secretName: 'db',
      object: { metadata: { name: 'db' } },
    });
  });

  it('keep the code, stack and cause of a fault, and cut what is endless', () => {
    const { logger, lines } = capture();
    const loop: Record<string, unknown> = { text: 'x'.repeat(10_000) };
    loop.self = loop;
    logger.error({ error: new Fault('Forbidden', 'may not', { status: 403 }, new Error('why')), loop }, 'failed');
    const { error } = JSON.parse(lines[0] ?? '');
    expect(error).toMatchObject({
      name: 'Fault',
      code: 'Forbidden',
      details: { status: 403 },
      cause: { message: 'why' },
    });
    expect(error.stack).toContain('logger.test.ts');
    expect(lines[0]?.length).toBeLessThan(40_000);
  });
});

describe('pretty logs', () => {
  it('are one line that a person can read', () => {
    const { logger, lines } = capture({ format: 'pretty' });
    logger.child({ controller: 'website', key: 'shop/front' }).info({ steps: 3, note: 'two words' }, 'applied');
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d INFO {2}website shop\/front applied steps=3 note="two words"\n$/);
  });

  it('show the stack of an error only when it is one', () => {
    const { logger, lines } = capture({ format: 'pretty', colour: true });
    logger.warn({ error: new Error('later') }, 'will retry');
    logger.error({ error: new Error('broken') }, 'bug');
    expect(lines[0]?.split('\n')).toHaveLength(2);
    expect(lines[0]).toContain('\u001b[33mWARN');
    expect(lines[1]).toContain('logger.test.ts');
  });
});
