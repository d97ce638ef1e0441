/** What is wrong with a patch, by its path, before anything is merged. */
import { expect, test } from 'vitest';
import { checkPatch } from './check-patch.ts';

const container = (fields: object): object => ({ spec: { containers: [{ name: 'a', ...fields }] } });

test.each<[string, unknown]>([
  ['nothing', {}],
  ['null anywhere', { metadata: null, spec: { containers: null, nodeSelector: { a: null }, affinity: null } }],
  ['a field of a Kubernetes that we do not know', { spec: { somethingEntirelyNew: [{ deep: true }] } }],
  ['a whole number or a name', container({ livenessProbe: { httpGet: { port: 'http' } } })],
  ['an amount as a number', container({ resources: { limits: { cpu: 1 } } })],
  [
    'all directives',
    {
      spec: {
        volumes: [{ name: 'a', $retainKeys: ['name', 'emptyDir'], emptyDir: {} }],
        '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }],
        containers: [
          { name: 'a', '$deleteFromPrimitiveList/args': ['x'] },
          { name: 'c', $patch: 'delete' },
        ],
        securityContext: { $patch: 'replace', runAsUser: 1 },
      },
    },
  ],
])('right: %s', (_title, patch) => {
  expect(checkPatch(patch, 'PodTemplateSpec', 'at')).toEqual([]);
});

test.each<[string, unknown, string, string]>([
  ['no object', 'x', 'at', "must be an object, got 'x'"],
  ['a list for an object', { spec: [] }, 'at.spec', 'must be an object, got a list'],
  ['an object for a list', { spec: { containers: {} } }, 'at.spec.containers', 'must be a list, got an object'],
  ['a string for a boolean', { spec: { hostPID: 'yes' } }, 'at.spec.hostPID', "must be true or false, got 'yes'"],
  [
    'a fraction',
    { spec: { terminationGracePeriodSeconds: 1.5 } },
    'at.spec.terminationGracePeriodSeconds',
    'must be a whole number, got 1.5',
  ],
  ['a number as a label', { metadata: { labels: { a: 1 } } }, 'at.metadata.labels.a', 'must be a string, got 1'],
  [
    'a mistyped field, deep inside',
    container({ securityContext: { capabilities: { ads: [] } } }),
    'at.spec.containers[0].securityContext.capabilities.ads',
    "unknown field: did you mean 'add'?",
  ],
  ['a null item', { spec: { containers: [null] } }, 'at.spec.containers[0]', 'must be an object, got null'],
  [
    'an item without its key',
    { spec: { volumes: [{ emptyDir: {} }] } },
    'at.spec.volumes[0]',
    'needs name: items of this list are told apart by it',
  ],
  [
    'a deletion of nobody',
    { spec: { volumes: [{ $patch: 'delete' }] } },
    'at.spec.volumes[0]',
    'needs name: items of this list are told apart by it',
  ],
  [
    'a port by name',
    container({ ports: [{ name: 'http' }] }),
    'at.spec.containers[0].ports[0]',
    'needs containerPort: items of this list are told apart by it',
  ],
  [
    'a directive in a list that is replaced',
    { spec: { tolerations: [{ key: 'a', $patch: 'delete' }] } },
    'at.spec.tolerations[0].$patch',
    'has no effect here: this list is replaced as a whole',
  ],
  [
    'a missing field in a list that is replaced',
    container({ envFrom: [{ prefix: 'x' }] }),
    'at.spec.containers[0].envFrom[0]',
    'needs one of configMapRef, secretRef',
  ],
  ['$patch: merge', { spec: { $patch: 'merge' } }, 'at.spec.$patch', "must be 'replace' or 'delete', got 'merge'"],
  [
    'a directive that there is not',
    { spec: { $drop: true } },
    'at.spec.$drop',
    'unknown directive: there are $patch, $retainKeys, $setElementOrder/<list> and $deleteFromPrimitiveList/<list>',
  ],
  [
    '$retainKeys that forgets one',
    { spec: { volumes: [{ name: 'a', $retainKeys: ['name'], emptyDir: {} }] } },
    'at.spec.volumes[0].$retainKeys',
    'must name every field that the patch sets: emptyDir too',
  ],
  [
    '$retainKeys of no list',
    { spec: { $retainKeys: 'a' } },
    'at.spec.$retainKeys',
    "must be a list of fields, got 'a'",
  ],
  [
    'an order that forgets one',
    { spec: { '$setElementOrder/volumes': [{ name: 'a' }], volumes: [{ name: 'b' }] } },
    'at.spec["$setElementOrder/volumes"]',
    'must name every item of the list in the patch, in the order that they have there',
  ],
  [
    'an order against that of the patch',
    { spec: { '$setElementOrder/volumes': [{ name: 'a' }, { name: 'b' }], volumes: [{ name: 'b' }, { name: 'a' }] } },
    'at.spec["$setElementOrder/volumes"]',
    'must name every item of the list in the patch, in the order that they have there',
  ],
  [
    'an order of what is taken away',
    { spec: { '$setElementOrder/volumes': [], volumes: null } },
    'at.spec["$setElementOrder/volumes"]',
    'the same patch takes the list away',
  ],
  [
    'an order without keys',
    { spec: { '$setElementOrder/volumes': [{}] } },
    'at.spec["$setElementOrder/volumes"]',
    'every item needs name',
  ],
  [
    'an order of a list that is replaced',
    { spec: { '$setElementOrder/tolerations': [] } },
    'at.spec["$setElementOrder/tolerations"]',
    'there is no merged list of this name',
  ],
  [
    'an order of no list',
    { spec: { '$setElementOrder/volumes': 1 } },
    'at.spec["$setElementOrder/volumes"]',
    'must be a list, got 1',
  ],
  [
    'a deletion from a list of objects',
    { spec: { '$deleteFromPrimitiveList/volumes': ['a'] } },
    'at.spec["$deleteFromPrimitiveList/volumes"]',
    'there is no list of plain values of this name',
  ],
  [
    'a deletion of no list',
    container({ '$deleteFromPrimitiveList/args': 'a' }),
    'at.spec.containers[0]["$deleteFromPrimitiveList/args"]',
    "must be a list, got 'a'",
  ],
])('wrong: %s', (_title, patch, path, message) => {
  expect(checkPatch(patch, 'PodTemplateSpec', 'at')).toEqual([{ path, message }]);
});
