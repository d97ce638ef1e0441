/** `keelson explain feature`, with a config that brings a feature of its own: the CLI knows none. */
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keelson } from '../testing/keelson.ts';

const config = `
import { website } from '@keelson/example-website';
import { ConfigMap, defineShape, int32, Type } from '@keelson/schema';

const { schema } = defineShape(Type.Object({ depth: int32({ default: 3, minimum: 1, maximum: 9, description: 'How deep.' }) }), 'sonar');

export default {
  operators: [website],
  features: () => [
    {
      id: 'sonar',
      title: 'Sonar',
      description: 'Tells how deep the water is.',
      version: '1.2.3',
      operator: 'website',
      example: { spec: { features: [{ name: 'sonar', enabled: true }] } },
      condition: 'SonarReady',
      installs: [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sonar', namespace: 'here' } },
        { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'sonar.here' } },
      ],
      privileges: [{ what: 'hostNetwork', why: 'to ping' }],
      rights: [{ kind: ConfigMap, verbs: ['get'], why: 'to read the map' }],
      requires: [{ kind: ConfigMap, remedy: 'install maps' }],
      config: schema,
      events: { from: '/var/log/sonar', to: 'index depths' },
      exclusive: 'one ping at a time',
    },
  ],
};
`;

const text = `Sonar 1.2.3 (feature sonar of the operator website)
Tells how deep the water is.

Switch it on with:
  spec:
    features:
      - name: sonar
        enabled: true

Config:
  depth  integer (int32) = 3, 1 … 9
    How deep.

Installs:
  KIND                                         NAME         SCOPE
  ConfigMap (v1)                               sonar        namespaced
  ClusterRole (rbac.authorization.k8s.io/v1)   sonar.here   cluster-scoped

May do on a node:
  WHAT          WHY
  hostNetwork   to ping

May ask the API server:
  RESOURCE     VERBS   WHY
  configmaps   get     to read the map

Needs:
  ConfigMap (v1): install maps

Events:
  /var/log/sonar → index depths

Once on a node:
  one ping at a time

Condition:
  SonarReady
`;

describe('keelson explain feature', () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'keelson-features-'));
    await symlink(resolve(import.meta.dirname, '../../../../node_modules'), join(cwd, 'node_modules'));
    await writeFile(join(cwd, 'keelson.config.mjs'), config);
  });
  afterAll(() => rm(cwd, { recursive: true, force: true }));

  it('given no name, when explained, then every feature is listed', async () => {
    expect(await keelson(['explain', 'feature'], { cwd })).toEqual({
      code: 0,
      stderr: '',
      stdout:
        'FEATURE   OPERATOR   VERSION   WHAT IT GIVES\nsonar     website    1.2.3     Tells how deep the water is.\n',
    });
  });

  it('given a name, or a title, when explained, then all is told that a user must know', async () => {
    expect(await keelson(['explain', 'feature', 'sonar'], { cwd })).toEqual({ code: 0, stderr: '', stdout: text });
    expect((await keelson(['explain', 'feature', 'Sonar'], { cwd })).stdout).toBe(text);
  });

  it('given -o json, when explained, then it is data', async () => {
    const { stdout } = await keelson(['explain', 'feature', 'sonar', '-o', 'json'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({
      id: 'sonar',
      config: [{ path: 'depth', default: 3, limits: ['1 … 9'] }],
      rights: [{ verbs: ['get'], resource: 'configmaps', why: 'to read the map' }],
      requires: [{ kind: 'ConfigMap (v1)', remedy: 'install maps' }],
    });
  });

  it('given a typo, when explained, then the name that was meant is told', async () => {
    expect(await keelson(['explain', 'feature', 'sonra'], { cwd })).toEqual({
      code: 2,
      stdout: '',
      stderr: "error: no feature 'sonra'\nremedy: did you mean sonar? known: sonar\n",
    });
  });

  it('given operators without features, when explained, then it says so', async () => {
    expect(await keelson(['explain', 'feature'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the operators of this project have no features'),
    });
  });

  it('given a second word for something else, when explained, then it is refused', async () => {
    expect(await keelson(['explain', 'website', 'sonar'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("'sonar' is too much"),
    });
  });
});
