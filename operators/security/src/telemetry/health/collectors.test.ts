import { createObjectSet } from '@keelson/runtime';
import { Pod } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { collectorsOf, MOST_NODES } from './collectors.ts';

function pod(
  component: string,
  name: string,
  ip: string | undefined,
  more: { ready?: boolean; phase?: string; gone?: boolean; relay?: boolean } = {},
): Pod {
  const { ready = true, phase = 'Running', gone = false, relay = false } = more;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${component}-${name}`,
      namespace: 'n',
      labels: { 'app.kubernetes.io/component': component },
      ...(gone ? { deletionTimestamp: '2026-05-01T10:00:00Z' } : {}),
    },
    spec: { containers: [], nodeName: name },
    status: {
      phase,
      ...(relay
        ? { initContainerStatuses: [{ name: 'relay', ready: true, restartCount: 0, image: '', imageID: '' }] }
        : {}),
      ...(ip === undefined ? {} : { podIP: ip }),
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  };
}
const at = (minutes: number) => new Date(Date.parse('2026-05-01T10:00:00Z') + minutes * 60_000);
const look = (pods: readonly Pod[], minutes = 0) =>
  collectorsOf(
    createObjectSet(
      pods.map((object) => ({ kind: Pod, object })),
      'n',
    ),
    at(minutes),
  );

describe('who is asked', () => {
  test('are the gateways by pod and the collectors on nodes by node, those that run and stay', () => {
    const found = look([
      pod('otel-node-collector', 'b', '10.0.0.2'),
      pod('otel-node-collector', 'a', '10.0.0.1', { ready: false }),
      pod('otel-node-collector', 'c', undefined),
      pod('otel-gateway', 'g', 'fd00::1'),
      pod('otel-gateway', 'old', '10.0.0.9', { gone: true }),
      pod('otel-gateway', 'new', '10.0.0.8', { phase: 'Pending', ready: false }),
      pod('falco', 'a', '10.0.0.5'),
    ]);
    expect(found).toEqual({
      asked: [
        { role: 'gateway', name: 'otel-gateway-g', ip: 'fd00::1' },
        { role: 'node', name: 'a', ip: '10.0.0.1' },
        { role: 'node', name: 'b', ip: '10.0.0.2' },
      ],
      nodes: 2,
      ready: { node: true, gateway: true },
    });
    expect(look([pod('otel-gateway', 'g', '10.0.0.1', { ready: false })]).ready).toEqual({
      node: false,
      gateway: false,
    });
  });

  test('has a relay where its pod has one', () => {
    const { asked } = look([
      pod('otel-gateway', 'with', '10.0.0.1', { relay: true }),
      pod('otel-gateway', 'without', '10.0.0.2'),
    ]);
    expect(asked).toEqual([
      { role: 'gateway', name: 'otel-gateway-with', ip: '10.0.0.1', hasRelay: true },
      { role: 'gateway', name: 'otel-gateway-without', ip: '10.0.0.2' },
    ]);
  });

  test('is an even part of very many, the same for ten minutes, and in time everybody', () => {
    const many = Array.from({ length: 1234 }, (_, i) =>
      pod('otel-node-collector', `node-${String(i).padStart(4, '0')}`, `10.0.${i >> 8}.${i % 256}`),
    );
    const names = (minutes: number) => look(many, minutes).asked.map(({ name }) => name);
    expect(names(0)).toHaveLength(MOST_NODES);
    expect(names(9)).toEqual(names(0));
    expect(names(10)).not.toEqual(names(0));
    const all = new Set(Array.from({ length: 13 }, (_, i) => names(i * 10)).flat());
    expect(all.size).toBe(1234);
    const gaps = names(0).map((name, i, list) => Number(list[i + 1]?.slice(5) ?? 1234) - Number(name.slice(5)));
    expect(Math.max(...gaps)).toBeLessThan(15);
    expect(look(many).nodes).toBe(1234);
  });
});
