/** The role that the guide gives to the account: what it allows is what we ask for. Elasticsearch with security is not in our tests. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { storeWith } from '../testing/sources.ts';
import { dialects } from './dialect.ts';

const guide = readFileSync(new URL('../../../../../docs/guides/security.md', import.meta.url), 'utf8');
interface Role {
  readonly cluster: readonly string[];
  readonly indices: readonly { readonly names: readonly string[]; readonly privileges: readonly string[] }[];
}
const [, json = ''] = /### The account in the store\n[^#]*?```json\n(.*?)```/s.exec(guide) ?? [];
const role = JSON.parse(json) as Role;

test('the role of the guide may put templates in place, and names the privilege for retention beside it', () => {
  expect(role.cluster).toEqual([dialects.elasticsearch.templatePrivilege]);
  // Who wrote a policy is who rolls over and deletes by it.
  expect(guide).toContain(
    `With \`retentionDays\` also \`${dialects.elasticsearch.lifecycle.privilege}\`, and the privilege \`manage\` on \`security-events\``,
  );
});

// The first event of a tool adds its field: `create_doc` and `write` allow that for indices, and not for data streams
// (https://www.elastic.co/docs/reference/elasticsearch/security-privileges).
test.each(Object.entries(storeWith().indices))(
  'the index of %s is made, mapped, written and looked at',
  (key, index) => {
    const privileges = role.indices.filter(({ names }) => names.includes(index)).flatMap((one) => one.privileges);
    const writes = key === 'vulnerability' ? ['read', 'write'] : ['create_doc'];
    expect([...privileges].sort()).toEqual(['auto_configure', 'view_index_metadata', ...writes].sort());
  },
);
