import { DatabaseSync } from 'node:sqlite';
import { renderInstance } from '@keelson/runtime';
import { type ConfigMap, type DaemonSet, formatProblems } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { createSecurityOperator } from '../../operator.ts';
import { agentOf } from '../../testing/agent.ts';
import { goldenTests } from '../../testing/golden.ts';
import { osquery } from './feature.ts';
import { packs } from './pack.ts';
import { tables } from './testing/tables.ts';

goldenTests(import.meta.url, osquery);

describe('the pack', () => {
  const asked = Object.entries(packs).flatMap(([pack, { discovery, queries }]) => [
    ...(discovery === undefined ? [] : [{ name: `${pack} discovery`, sql: discovery }]),
    ...Object.entries(queries).map(([name, { query }]) => ({ name: `${pack} ${name}`, sql: query })),
  ]);

  test.each(asked)('$name is SQL over the tables of osquery', ({ sql }) => {
    const database = new DatabaseSync(':memory:');
    for (const [table, columns] of Object.entries(tables))
      database.exec(`CREATE TABLE "${table}" (${columns.join(', ')})`);

    expect(() => database.prepare(sql).all()).not.toThrow();
  });

  test('asks for nothing that may hold a secret of a container', () => {
    expect(asked.map(({ sql }) => sql).join()).not.toMatch(/env_variables|docker_container_envs|process_envs|\*/);
  });
});

describe('osquery.conf', () => {
  test('the interval of the feature sets the pace of everything, and osquery takes no longer one than a week', () => {
    const { packs: slow } = confOf({ interval: 86_400 });

    expect(slow.inventory?.queries.processes?.interval).toBe(86_400);
    expect(slow.inventory?.queries.users?.interval).toBe(604_800);
  });

  test('an own query has the name that the user gave it, and the interval of the feature unless it has its own', () => {
    const { schedule } = confOf({
      queries: { mine: { query: 'SELECT 1' }, rare: { query: 'SELECT 2', interval: 7200 } },
    });

    expect(schedule).toEqual({
      mine: { query: 'SELECT 1', interval: 300 },
      rare: { query: 'SELECT 2', interval: 7200 },
    });
  });

  test('a query is data: nothing in it can leave its string', () => {
    const query = 'SELECT "}],\\n$(id) `id` \' FROM file';

    expect(confOf({ queries: { odd: { query } } }).schedule.odd?.query).toBe(query);
  });
});

describe('the pods', () => {
  test('are not privileged, write nowhere but to their log folder, and see the node read-only', () => {
    const { spec } = daemonOf({}).spec?.template ?? {};
    const container = spec?.containers[0];

    expect(container?.securityContext?.privileged).toBe(false);
    const writable = container?.volumeMounts?.filter((mount) => mount.readOnly !== true).map(({ name }) => name);
    expect(writable).toEqual(['logs', 'run']);
    expect(spec?.automountServiceAccountToken).toBe(false);
  });

  test('run the image that the user names, as he names it', () => {
    const daemon = daemonOf({ image: 'example.com/osquery:1' });

    expect(daemon.spec?.template.spec?.containers[0]?.image).toBe('example.com/osquery:1');
  });
});

describe('bad config is told with its path', () => {
  test.each([
    [{ interval: 5 }, 'config.interval: must be at least 10'],
    [{ interval: '5m' }, 'config.interval: must be a whole number'],
    [{ queries: { a: {} } }, 'config.queries.a.query'],
    [{ queries: { a: { query: '' } } }, 'config.queries.a.query: must not be empty'],
    [{ queries: { a: { query: 'SELECT 1', platform: 'windows' } } }, 'config.queries.a.platform'],
    [{ queries: { a: { query: 'SELECT 1', snapshot: true } } }, 'config.queries.a.snapshot: unknown field'],
    [{ querys: {} }, 'config.querys: unknown field'],
  ])('%j', (given, expected) => {
    const parsed = osquery.config.parse(given, 'config');

    expect(parsed.ok ? '' : formatProblems(parsed.problems)).toContain(expected);
  });
});

interface Conf {
  readonly packs: Record<string, { readonly queries: Record<string, { readonly interval: number }> }>;
  readonly schedule: Record<string, { readonly query: string; readonly interval: number }>;
}

function rendered(config: Record<string, unknown>) {
  const agent = agentOf([{ name: 'osquery', config }]);
  return renderInstance(createSecurityOperator([osquery]), agent).objects;
}

function confOf(config: Record<string, unknown>): Conf {
  const map = rendered(config).find(({ kind }) => kind === 'ConfigMap') as ConfigMap;
  return JSON.parse(map.data?.['osquery.conf'] ?? '') as Conf;
}

function daemonOf(config: Record<string, unknown>): DaemonSet {
  return rendered(config).find(({ kind }) => kind === 'DaemonSet') as DaemonSet;
}
