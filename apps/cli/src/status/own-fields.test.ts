import { describe, expect, it } from 'vitest';
import { ownFields } from './own-fields.ts';

const now = new Date('2026-05-01T10:00:00Z');

describe('ownFields', () => {
  it('given the status of a SecurityAgent, when told, then tools are a table, lists are lines, and a long inventory is counted', () => {
    const digest = `docker.io/falcosecurity/falco:0.44.1@sha256:${'d0cfe422d6ac'}${'0'.repeat(52)}`;
    const text = ownFields(
      {
        features: { falco: 'True', kyverno: 'False' },
        featuresReady: '1/2',
        inventory: Array.from({ length: 20 }, (_, index) => `ConfigMap/security-system/some-name-${index}`),
        pipeline: { indices: ['security-events', 'security-inventory'], receivers: [] },
        tools: { falco: { desired: 3, image: digest, ready: 3 }, kyverno: { desired: 8, ready: 0 } },
      },
      now,
    );
    expect(text.split('\n')).toEqual([
      'featuresReady: 1/2',
      'features: falco=True, kyverno=False',
      'inventory: 20 entries (all of them: -o yaml)',
      'pipeline:',
      '  indices: security-events, security-inventory',
      '  receivers: -',
      'tools:',
      '  NAME      DESIRED   READY   IMAGE',
      '  falco     3         3       docker.io/falcosecurity/falco:0.44.1@sha256:d0cfe422d6ac…',
      '  kyverno   8         0       -',
      '',
    ]);
  });

  it('given how events flow, when told, then each tool has a line with the age of its last event', () => {
    const tools = { falco: { lastEventTime: '2026-05-01T09:57:00Z', waiting: 500 }, osquery: {} };
    expect(ownFields({ pipeline: { receivers: ['filelog/falco'], tools } }, now).split('\n')).toEqual([
      'pipeline:',
      '  receivers: filelog/falco',
      '  tools:',
      '    NAME      WAITING   LASTEVENTTIME',
      '    falco     500       3m ago',
      '    osquery   -         -',
      '',
    ]);
  });

  it('given what fits no pattern, when told, then it is YAML', () => {
    expect(ownFields({ servers: [{ name: 'a', ports: [1] }] }, now)).toBe(
      'servers:\n  - name: a\n    ports:\n      - 1\n',
    );
    expect(ownFields({ text: 'a: b', absent: undefined }, now)).toBe('text: a: b\n');
  });
});
