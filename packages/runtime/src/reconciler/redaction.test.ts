import { inspect } from 'node:util';
import { type KubeObject, Secret } from '@keelson/schema';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apply } from '../decision.ts';
import { configMap, type Stage, startStage } from './testing/stage.ts';

const PASSWORD = 'Tr0ub4dor &3';
const credentials: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'credentials' },
  data: { password: btoa(PASSWORD) },
};

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
beforeEach(async () => {
  await stage.begin();
  await stage.restartWith({ definition: { watches: [{ kind: Secret, relate: () => [{ name: 'given' }] }] } });
  await stage.bench.create('web');
});
afterEach(() => stage.end());
afterAll(() => stage?.stop());

/** What a turn threw, with everything that a log or a trace would show of it. */
async function thrown(): Promise<string> {
  const error: unknown = await stage.bench.turn('web').catch((thrown: unknown) => thrown);
  if (!(error instanceof Error)) expect.fail('the turn did not fail');
  return inspect(error, { depth: null, showHidden: true });
}

describe('what leaves a turn that failed', () => {
  it('given a server that quotes a Secret that was to be written, holds nothing of it', async () => {
    stage.bench.rules = () =>
      apply({ objects: [credentials, { ...configMap('a'), metadata: { name: 'a', labels: { password: PASSWORD } } }] });
    const error = await thrown();
    expect(error).toContain('could not create ConfigMap');
    expect(error).toContain('[redacted]');
    expect(error).not.toContain(PASSWORD);
    expect((await stage.condition('web', 'Applied'))?.message).toContain('[redacted]');
    expect(inspect([await stage.bench.self('web'), stage.bench.events], { depth: null })).not.toContain(PASSWORD);
  });

  it('given an operator that quotes a Secret that it owns, holds nothing of it', async () => {
    stage.bench.rules = () => apply({ objects: [credentials] });
    await stage.bench.turn('web');
    stage.bench.rules = ({ owned }) => {
      const { data } = owned.get(Secret, { name: 'credentials' }) ?? {};
      throw new TypeError(`cannot use ${atob(data?.password ?? '')}`, { cause: new Error(data?.password) });
    };
    const error = await thrown();
    expect(error).toContain('TypeError: cannot use [redacted]');
    expect(error).not.toContain(PASSWORD);
    expect(error).not.toContain(btoa(PASSWORD));
  });

  it('given an operator that quotes a Secret that it watches, holds nothing of it', async () => {
    const metadata = { name: 'given', namespace: stage.namespace };
    await stage.admin.create(Secret, { ...(credentials as Secret), metadata });
    stage.bench.rules = ({ related }) => {
      const { data } = related.get(Secret, { name: 'given' }) ?? {};
      if (data === undefined) return apply({ objects: [] });
      throw new TypeError(`cannot use ${atob(data.password ?? '')}`);
    };
    await expect
      .poll(() => stage.bench.turn('web').catch((error: Error) => error.message))
      .toBe('cannot use [redacted]');
  });
});
