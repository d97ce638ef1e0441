/** What is held loses nothing: the second turn of an agent that went bad, over what its first turn made. */
import { renderInstance } from '@keelson/runtime';
import type { Kind, KubeObject } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { features } from './features/index.ts';
import { createSecurityOperator } from './operator.ts';

import { kindOf, ownedKinds } from './steps/kinds.ts';
import type { Outside } from './steps/outside.ts';
import { agentOf } from './testing/agent.ts';

// Without its admission: the agent came in while no webhook ran.
const { admission: _admission, ...operator } = createSecurityOperator();
const kinds = ownedKinds(features);
const textOf = ({ kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>) => `${kind}/${metadata.name}`;

/** What the second turn would delete of what the first one made. */
function pruned(
  first: KubeObject,
  second: KubeObject,
  situation: { notServed?: readonly Kind[]; external?: Outside } = {},
) {
  const made = renderInstance(operator, first).objects;
  const owned = made.map((object) => ({ kind: kindOf(object, kinds) as Kind, object }));
  const { decision, objects } = renderInstance(operator, second, { owned, ...situation });
  if (decision?.kind !== 'apply') throw new Error('nothing was decided');
  const kept = (decision.keep ?? []).map(({ kind, name }) => textOf({ kind: kind.kind, metadata: { name } }));
  const staying = new Set([...objects.map(textOf), ...kept]);
  return {
    made: made.map(textOf),
    gone: made.map(textOf).filter((text) => !staying.has(text)),
    status: decision.status,
  };
}

const bad = { name: 'falco', config: { driver: 'nope' } };

describe('an agent that goes bad', () => {
  test('a typo in the config of the only tool takes nothing away: not the tool, not the pipeline, not their priority', () => {
    const { made, gone, status } = pruned(agentOf(['falco']), agentOf([bad]));
    expect(made).toContain('Deployment/otel-gateway');
    expect(gone).toEqual([]);
    expect(status?.features).toEqual({ otel_pipeline: 'False', falco: 'False' });
    expect(status?.installed).toEqual(['falco', 'otel_pipeline']);
    expect(status?.pipeline?.receivers).toEqual(['filelog/falco']);
  });

  test('a typo in the name of a tool takes nothing away, and says what was probably meant', () => {
    const { gone, status } = pruned(agentOf(['falco', 'osquery']), agentOf(['falcoo', 'osquery']));
    expect(gone).toEqual([]);
    const condition = status?.conditions?.find(({ type }) => type === 'FalcooReady');
    expect(condition?.message).toContain("there is no feature 'falcoo'; did you mean 'falco'?");
    expect(status?.pipeline?.receivers).toEqual(['filelog/falco', 'filelog/osquery']);
  });

  test('what is no longer listed goes, where every name is known', () => {
    const { gone } = pruned(agentOf(['falco', 'osquery']), agentOf(['osquery']));
    expect(gone).toContain('DaemonSet/falco');
    expect(gone).not.toContain('DaemonSet/osquery');
  });

  test('an override of a tool that is held is not called a mistake', () => {
    const spec = { override: { perTool: { falco: { image: 'mine:1' } } } };
    const { status } = pruned(agentOf(['falco'], spec), agentOf([bad], spec));
    expect(status?.conditions?.find(({ type }) => type === 'OverridesApplied')?.status).toBe('True');
  });

  test('many mistakes are told in a message that a terminal can hold', () => {
    const config = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`mistake${n}`, n]));
    const { status } = pruned(agentOf(['falco']), agentOf([{ name: 'falco', config }]));
    const message = status?.conditions?.find(({ type }) => type === 'FalcoReady')?.message ?? '';
    expect(message.length).toBeLessThan(700);
    expect(message).toContain('and 495 more');
  });

  test('a Secret that goes away takes nothing away', () => {
    const output = { elasticsearch: { url: 'https://es:9200', auth: { secretRef: { name: 'login' } } } };
    const agent = agentOf(['trivy'], { output });
    expect(pruned(agent, agent, { external: { secrets: { login: null } } }).gone).toEqual([]);
  });

  test('what is switched off goes, and the pipeline with the last that writes', () => {
    const { made, gone } = pruned(agentOf(['falco']), agentOf([{ name: 'falco', enabled: false }]));
    expect(gone).toEqual(made);
  });

  test('the priority comes with the first pod, carries what is global, and is in the inventory', () => {
    const global = { labels: { team: 'red' }, annotations: { note: 'x' } };
    const of = (feature: string) => renderInstance(operator, agentOf([feature], { global }));
    expect(of('kyverno').objects.filter(({ kind }) => kind === 'PriorityClass')).toEqual([]);
    const { objects, decision } = of('osquery');
    const [priority] = objects.filter(({ kind }) => kind === 'PriorityClass');
    expect(priority?.metadata).toMatchObject({ labels: { team: 'red' }, annotations: { note: 'x' } });
    const inventory = decision?.kind === 'apply' ? decision.status?.inventory : [];
    expect(inventory).toHaveLength(objects.length);
    expect(inventory).toContain('PriorityClass/security-agent.security-system.main');
  });
});
