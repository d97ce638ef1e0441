/** What we say of schedules and time zones is what a real API server says of them. */
import { isApiError, startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { trivy } from './feature.ts';

let env: TestEnv;
let path: string;

beforeAll(async () => {
  env = await startTestEnv();
  path = `/apis/batch/v1/namespaces/${await env.createNamespace()}/cronjobs?dryRun=All`;
});
afterAll(() => env.stop());

const schedules = [
  ...[
    '0 */6 * * *',
    '0 3 * * mon-fri',
    '30 2 1,15 JAN-MAR ?',
    '5-55/10 0-23/2 * * 0,6',
    '5/15 * * * *',
    '@daily',
    '@hourly',
  ],
  ...[
    'every six hours',
    '0 0 */6 * * *',
    '60 * * * *',
    '0 24 * * *',
    '0 0 0 * *',
    '0 0 * 13 *',
    '0 0 * * 7',
    '0 0 * * monday',
  ],
  ...['*/0 * * * *', '*/5/5 * * * *', '9-5 * * * *', '-1 * * * *', '1-2-3 * * * *', '@noon', 'TZ=Asia/Seoul 0 6 * * *'],
];

const timeZones = [
  ...[
    'UTC',
    'Etc/UTC',
    'Asia/Seoul',
    'Asia/Kolkata',
    'Europe/Kyiv',
    'America/Argentina/Buenos_Aires',
    'America/Port-au-Prince',
  ],
  ...[
    'America/North_Dakota/New_Salem',
    'Antarctica/DumontDUrville',
    'Etc/GMT+3',
    'Africa/Dar_es_Salaam',
    'Europe/Isle_of_Man',
  ],
  ...['asia/seoul', 'ASIA/SEOUL', 'Asia/SEOUL', 'Asia/Atlantis', 'gb', 'Seoul', '+09:00', 'Local', 'Asia/'],
];

test.each([...schedules.map((schedule) => ({ schedule })), ...timeZones.map((timeZone) => ({ timeZone }))])(
  '%j',
  async (config) => {
    expect(trivy.config.parse(config).ok).toBe(await isTaken({ schedule: '@daily', ...config }));
  },
);

/** Whether the server takes a CronJob with this. */
async function isTaken(spec: Record<string, string>): Promise<boolean> {
  const pod = { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a:1' }] };
  const job = { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'a' } };
  try {
    await env.adminRequest('POST', path, {
      ...job,
      spec: { ...spec, jobTemplate: { spec: { template: { spec: pod } } } },
    });
    return true;
  } catch (error) {
    if (isApiError(error) && error.code === 422) return false;
    throw error;
  }
}
