import { describe, expect, it } from 'vitest';
import type { InstanceReport } from '../status/gather.ts';
import { paper } from '../testing/paper.ts';
import { createLiveView } from './live-view.ts';

const now = () => new Date('2026-01-01T00:00:10Z');

function report(name: string, ready: InstanceReport['ready'], message = ''): InstanceReport {
  return {
    operator: 'website',
    kind: 'Website',
    name,
    namespace: 'default',
    ready,
    reason: 'Because',
    message,
    created: '2026-01-01T00:00:00Z',
    conditions: [],
    children: [],
    object: { apiVersion: 'v1', kind: 'Website', metadata: { name } },
  };
}

function agent(nodes: string): InstanceReport {
  const condition = { status: 'True', reason: 'Ready', lastTransitionTime: '2026-01-01T00:00:05Z' } as const;
  return {
    ...report('agent', 'True'),
    conditions: [
      { ...condition, type: 'Ready', message: '' },
      { ...condition, type: 'Applied', message: 'everything is as decided' },
      { ...condition, type: 'FalcoReady', message: `Falco running on ${nodes} nodes` },
    ],
  };
}

describe('the live view, not on a terminal', () => {
  it('given the same state twice, a change, and a deletion, when shown, then each change is one line', () => {
    const shell = paper();
    const view = createLiveView(shell, now);
    view.show([report('a', 'False', 'no pods'), report('b', 'True')]);
    view.show([report('a', 'False', 'no pods'), report('b', 'True')]);
    view.show([report('a', 'True')]);
    expect(shell.text().split('\n')).toEqual([
      'website/a in default: Ready=False Because: no pods (0 children)',
      'website/b in default: Ready=True Because (0 children)',
      'website/a in default: Ready=True Because (0 children)',
      'website/b in default: gone',
      '',
    ]);
  });

  it('given conditions of its own, when shown, then each change of one is a line below its instance', () => {
    const shell = paper();
    const view = createLiveView(shell, now);
    view.show([agent('0/3')]);
    view.show([agent('3/3')]);
    view.show([{ ...agent('3/3'), conditions: [] }]);
    expect(shell.text().split('\n')).toEqual([
      '  FalcoReady=True Ready: Falco running on 0/3 nodes',
      'website/agent in default: Ready=True Because (0 children)',
      '  FalcoReady=True Ready: Falco running on 3/3 nodes',
      'website/agent in default: FalcoReady: gone',
      '',
    ]);
  });
});

describe('the live view on a terminal', () => {
  it('given conditions of its own, when shown, then they stand below their instance; those of the engine do not', () => {
    const shell = paper({ live: true });
    createLiveView(shell, now).show([agent('3/3')]);
    expect(shell.text().split('\n').slice(2)).toEqual([
      expect.stringMatching(/^default +website\/agent +True +Because +0 +10s$/),
      expect.stringMatching(/^ +FalcoReady +True +Ready +5s +Falco running on 3\/3 nodes$/),
      '',
    ]);
  });

  it('given a change, when shown, then as many rows are erased as were painted', () => {
    const shell = paper({ live: true });
    const view = createLiveView(shell, now);
    view.show([report('a', 'False')]);
    view.show([report('a', 'True')]);
    // An empty line, the heads and one row.
    expect(
      shell
        .text()
        .split('\u001b[3A\u001b[0J')
        .map((frame) => frame.includes('website/a')),
    ).toEqual([true, true]);
  });

  it('given nothing has changed, when shown again, then nothing is painted', () => {
    const shell = paper({ live: true });
    const view = createLiveView(shell, now);
    view.show([report('a', 'True')]);
    const once = shell.text();
    view.show([report('a', 'True')]);
    expect(shell.text()).toBe(once);
  });

  it('given more instances than the terminal has rows, when shown, then the rest is counted', () => {
    const shell = paper({ live: true, rows: 6 });
    createLiveView(shell, now).show(['a', 'b', 'c', 'd', 'e'].map((name) => report(name, 'True')));
    expect(shell.text().split('\n').slice(2)).toEqual([expect.stringContaining('website/a'), '… and 4 more', '']);
  });

  it('given something to say, when said, then it stands above the table, which is painted again', () => {
    const shell = paper({ live: true });
    const view = createLiveView(shell, now);
    view.show([report('a', 'True')]);
    view.say('hello\n');
    const [, after = ''] = shell.text().split('\u001b[0J');
    expect(after.startsWith('hello\n')).toBe(true);
    expect(after).toContain('website/a');
  });
});
