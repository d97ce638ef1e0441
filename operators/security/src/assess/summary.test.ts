import { describe, expect, it } from 'vitest';
import { type Assessed, summarise } from './summary.ts';

const ready = (id: string): Assessed => ({
  id,
  title: id,
  assessment: { status: 'True', reason: 'Ready', message: `${id} running on 3/3 nodes` },
});
const lacking = (id: string, reason: string, message: string, status: 'False' | 'Unknown' = 'False'): Assessed => ({
  id,
  title: id,
  assessment: { status, reason, message },
});

describe('summarise', () => {
  it('says that all is well in the words of old', () => {
    expect(summarise([ready('falco'), ready('trivy')])).toEqual({
      condition: {
        type: 'Ready',
        status: 'True',
        reason: 'ReconcileSuccess',
        message: 'All features reconciled successfully',
      },
      featuresReady: '2/2',
    });
  });

  it('names each feature that is not ready, with its reason', () => {
    const pull = lacking(
      'falco',
      'ImagePullFailed',
      'Falco running on 1/3 nodes; on node-2 and node-3: image x cannot be pulled',
    );
    const held = lacking('trivy', 'KindMissing', 'VulnerabilityReport is not installed: install trivy-operator');
    expect(summarise([ready('osquery'), pull, held])).toEqual({
      condition: {
        type: 'Ready',
        status: 'False',
        reason: 'FeaturesNotReady',
        message:
          'falco (ImagePullFailed): Falco running on 1/3 nodes; on node-2 and node-3: image x cannot be pulled | ' +
          'trivy (KindMissing): VulnerabilityReport is not installed: install trivy-operator',
      },
      featuresReady: '1/3',
    });
  });

  it('is unknown when nothing is known to be wrong', () => {
    expect(summarise([ready('falco'), lacking('trivy', 'NotTried', 'nobody looked', 'Unknown')]).condition.status).toBe(
      'Unknown',
    );
  });

  it('says so when nothing is asked for', () => {
    expect(summarise([])).toMatchObject({
      condition: { status: 'True', reason: 'ReconcileSuccess' },
      featuresReady: '0/0',
    });
  });

  it('keeps all names when much is wrong everywhere', () => {
    const many = Array.from({ length: 9 }, (_, index) => lacking(`feature_${index}`, 'CrashLoop', 'long '.repeat(200)));
    const { message } = summarise(many).condition;
    expect(message.length).toBeLessThan(700);
    for (const { id } of many) expect(message).toContain(`${id} (CrashLoop)`);
  });
});
