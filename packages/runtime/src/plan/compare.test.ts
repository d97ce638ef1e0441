import type { KubeObject } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { differences } from './compare.ts';
import type { Change } from './plan.ts';

type Body = Record<string, unknown>;
const object = (body: Body, metadata: Body = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'web', ...metadata },
  ...body,
});

/** A row reads: given this wanted, this live and these owned fields, then these paths differ. */
interface Case {
  given: string;
  wanted: Body;
  live: Body;
  fields: Body;
  differ: readonly Change[];
}

const container = (fields: Body) => ({ 'f:containers': { 'k:{"name":"web"}': { '.': {}, 'f:name': {}, ...fields } } });
const ports = { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } };

const cases: readonly Case[] = [
  {
    given: 'a value that is as wanted',
    wanted: { spec: { replicas: 2 } },
    live: { spec: { replicas: 2, paused: false } },
    fields: { 'f:spec': { 'f:replicas': {} } },
    differ: [],
  },
  {
    given: 'another value',
    wanted: { spec: { replicas: 3 } },
    live: { spec: { replicas: 2 } },
    fields: { 'f:spec': { 'f:replicas': {} } },
    differ: [{ path: 'spec.replicas', from: 2, to: 3 }],
  },
  {
    given: 'a field that somebody else took and set to the same value',
    wanted: { spec: { replicas: 2 } },
    live: { spec: { replicas: 2 } },
    fields: { 'f:spec': { 'f:paused': {} } },
    differ: [{ path: 'spec.replicas', from: 2, to: 2 }],
  },
  {
    given: 'a field that we own and no longer want',
    wanted: { spec: { replicas: 2 } },
    live: { spec: { replicas: 2, paused: true } },
    fields: { 'f:spec': { 'f:replicas': {}, 'f:paused': {} } },
    differ: [{ path: 'spec.paused', from: true, to: undefined }],
  },
  {
    given: 'a whole top-level field that we own and no longer want',
    wanted: {},
    live: { data: { a: '1' } },
    fields: { 'f:data': { 'f:a': {} } },
    differ: [{ path: 'data', from: { a: '1' }, to: undefined }],
  },
  {
    given: 'a field of somebody else',
    wanted: { data: { a: '1' } },
    live: { data: { a: '1', theirs: 'x' } },
    fields: { 'f:data': { 'f:a': {} } },
    differ: [],
  },
  {
    given: 'status, which is never ours to apply',
    wanted: {},
    live: { status: { ready: 1 } },
    fields: { 'f:status': { 'f:ready': {} } },
    differ: [],
  },
  {
    given: 'an item of an associative list with another value',
    wanted: { containers: [{ name: 'web', image: 'nginx:2' }] },
    live: {
      containers: [
        { name: 'istio', image: 'x' },
        { name: 'web', image: 'nginx:1', imagePullPolicy: 'Always' },
      ],
    },
    fields: container({ 'f:image': {} }),
    differ: [{ path: 'containers[name=web].image', from: 'nginx:1', to: 'nginx:2' }],
  },
  {
    given: 'a new item of an associative list',
    wanted: { containers: [{ name: 'web' }, { name: 'log' }] },
    live: { containers: [{ name: 'web' }] },
    fields: container({}),
    differ: [{ path: 'containers[name=log]', from: undefined, to: { name: 'log' } }],
  },
  {
    given: 'an item that we own and no longer want',
    wanted: { containers: [] },
    live: { containers: [{ name: 'web', image: 'nginx' }, { name: 'istio' }] },
    fields: container({ 'f:image': {} }),
    differ: [{ path: 'containers[name=web]', from: { name: 'web', image: 'nginx' }, to: undefined }],
  },
  {
    given: 'items in another order than wanted',
    wanted: { containers: [{ name: 'a' }, { name: 'b' }] },
    live: { containers: [{ name: 'b' }, { name: 'a' }] },
    fields: {
      'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:name': {} }, 'k:{"name":"b"}': { '.': {}, 'f:name': {} } },
    },
    differ: [{ path: 'containers (order)', from: [{ name: 'b' }, { name: 'a' }], to: [{ name: 'a' }, { name: 'b' }] }],
  },
  {
    given: 'a port without the protocol that the server filled in as its key',
    wanted: { ports: [{ port: 80 }] },
    live: { ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }] },
    fields: { 'f:ports': ports },
    differ: [],
  },
  {
    given: 'one port number under two protocols',
    wanted: { ports: [{ port: 53 }, { port: 53, protocol: 'UDP' }] },
    live: {
      ports: [
        { port: 53, protocol: 'TCP' },
        { port: 53, protocol: 'UDP' },
      ],
    },
    fields: {
      'f:ports': {
        'k:{"port":53,"protocol":"UDP"}': { '.': {}, 'f:port': {}, 'f:protocol': {} },
        'k:{"port":53,"protocol":"TCP"}': { '.': {}, 'f:port': {} },
      },
    },
    differ: [],
  },
  {
    given: 'a set with a member more and a member less',
    wanted: { finalizers: ['a', 'b'] },
    live: { finalizers: ['a', 'c', 'theirs'] },
    fields: { 'f:finalizers': { 'v:"a"': {}, 'v:"c"': {} } },
    differ: [
      { path: 'finalizers', from: undefined, to: 'b' },
      { path: 'finalizers', from: 'c', to: undefined },
    ],
  },
  {
    given: 'an atomic list with another member',
    wanted: { args: ['--a', '--b'] },
    live: { args: ['--a', '--c'] },
    fields: { 'f:args': {} },
    differ: [{ path: 'args[1]', from: '--c', to: '--b' }],
  },
  {
    given: 'an atomic list of another length',
    wanted: { args: ['--a'] },
    live: { args: ['--a', '--c'] },
    fields: { 'f:args': {} },
    differ: [{ path: 'args', from: ['--a', '--c'], to: ['--a'] }],
  },
  {
    given: 'defaults that the server filled in inside atomic values',
    wanted: {
      ingress: [{ ports: [{ port: 80 }] }],
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [{ kind: 'ServiceAccount', name: 's', namespace: 'n' }],
      fieldRef: { fieldPath: 'metadata.name' },
    },
    live: {
      ingress: [{ ports: [{ port: 80, protocol: 'TCP' }] }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
      subjects: [{ kind: 'ServiceAccount', name: 's', namespace: 'n' }],
      fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' },
    },
    fields: { 'f:ingress': {}, 'f:roleRef': {}, 'f:subjects': {}, 'f:fieldRef': {} },
    differ: [],
  },
  {
    given: 'a field of an atomic map that is no longer wanted',
    wanted: { ingress: [{ from: [{}] }] },
    live: { ingress: [{ from: [{}], ports: [{ port: 80 }] }] },
    fields: { 'f:ingress': {} },
    differ: [{ path: 'ingress[0].ports', from: [{ port: 80 }], to: undefined }],
  },
  {
    given: 'quantities in the canonical form of the server',
    wanted: { resources: { limits: { cpu: '1000m', memory: '1024Mi' }, requests: { cpu: 0.5 } } },
    live: { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } } },
    fields: { 'f:resources': { 'f:limits': { 'f:cpu': {}, 'f:memory': {} }, 'f:requests': { 'f:cpu': {} } } },
    differ: [],
  },
  {
    given: 'text that only looks like a quantity',
    wanted: { env: { SHARE: '1000m' } },
    live: { env: { SHARE: '1' } },
    fields: { 'f:env': { 'f:SHARE': {} } },
    differ: [{ path: 'env.SHARE', from: '1', to: '1000m' }],
  },
  {
    given: 'an empty map that has content: emptied by us if it is atomic, and else settled by one apply',
    wanted: { podSelector: {} },
    live: { podSelector: { matchLabels: { a: 'b' } } },
    fields: { 'f:podSelector': {} },
    differ: [{ path: 'podSelector.matchLabels', from: { a: 'b' }, to: undefined }],
  },
  {
    given: 'a list that we emptied',
    wanted: { rules: [] },
    live: { rules: [{ verbs: ['*'] }] },
    fields: { 'f:rules': {} },
    differ: [{ path: 'rules', from: [{ verbs: ['*'] }], to: [] }],
  },
  {
    given: 'an empty map that we own and no longer want',
    wanted: { spec: {} },
    live: { spec: { selector: {}, list: [] } },
    fields: { 'f:spec': { 'f:selector': {}, 'f:list': {} } },
    differ: [
      { path: 'spec.selector', from: {}, to: undefined },
      { path: 'spec.list', from: [], to: undefined },
    ],
  },
  {
    given: 'an empty map whose presence means something and that is missing',
    wanted: { spec: { tls: {} } },
    live: { spec: { host: 'a' } },
    fields: { 'f:spec': { 'f:host': {} } },
    differ: [
      { path: 'spec.tls', from: undefined, to: {} },
      { path: 'spec.host', from: 'a', to: undefined },
    ],
  },
  {
    given: 'an empty map gained and one lost inside an atomic value',
    wanted: { from: [{ podSelector: {} }] },
    live: { from: [{ namespaceSelector: {} }] },
    fields: { 'f:from': {} },
    differ: [
      { path: 'from[0].podSelector', from: undefined, to: {} },
      { path: 'from[0].namespaceSelector', from: {}, to: undefined },
    ],
  },
  {
    given: 'an empty atomic map that somebody else filled',
    wanted: { podSelector: {} },
    live: { podSelector: { matchLabels: { a: 'b' } } },
    fields: { 'f:policyTypes': {} },
    differ: [{ path: 'podSelector', from: { matchLabels: { a: 'b' } }, to: {} }],
  },
  {
    given: 'empty values that the server does not store, as long as they are ours',
    wanted: { data: {}, list: [] },
    live: {},
    fields: { 'f:data': {}, 'f:list': {} },
    differ: [],
  },
  {
    given: 'zero values that the server does not store, as long as they are ours',
    wanted: { hostNetwork: false, minReadySeconds: 0, value: '' },
    live: {},
    fields: { 'f:hostNetwork': {}, 'f:minReadySeconds': {}, 'f:value': {} },
    differ: [],
  },
  {
    given: 'a zero value that somebody removed',
    wanted: { automountServiceAccountToken: false },
    live: {},
    fields: { 'f:secrets': {} },
    differ: [{ path: 'automountServiceAccountToken', from: undefined, to: false }],
  },
  {
    given: 'a key that is not a plain word',
    wanted: { data: { 'nginx.conf': 'b' } },
    live: { data: { 'nginx.conf': 'a' } },
    fields: { 'f:data': { 'f:nginx.conf': {} } },
    differ: [{ path: 'data[nginx.conf]', from: 'a', to: 'b' }],
  },
];

describe('differences', () => {
  it.each(cases)('finds what differs given $given', ({ wanted, live, fields, differ }) => {
    expect(differences(object(wanted), { object: object(live), fields }, 'web-operator')).toEqual(differ);
  });

  it('compares labels and annotations, but nothing else of the metadata', () => {
    const wanted = object({}, { labels: { app: 'b' } });
    const live = object({}, { labels: { app: 'a', theirs: 'x' }, uid: '1', resourceVersion: '9', generation: 3 });
    const fields = { 'f:metadata': { 'f:labels': { 'f:app': {} }, 'f:annotations': { 'f:gone': {} } } };
    expect(differences(wanted, { object: live, fields }, 'web-operator')).toEqual([
      { path: 'metadata.labels.app', from: 'a', to: 'b' },
    ]);
  });

  it('wants an object applied once that has our values but was never applied by us', () => {
    expect(differences(object({}), { object: object({}) }, 'web-operator')).toEqual([
      { path: 'metadata.managedFields', from: undefined, to: 'web-operator' },
    ]);
  });
});
