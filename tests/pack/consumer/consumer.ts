// A user's program: an operator of their own, on the packages as they would be published. Compiled by the user's TypeScript,
// run by the user's Node, against a real API server.
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, loadConfig } from '@keelson/kube';
import { apply, createManager, defineOperator, renderInstance } from '@keelson/runtime';
import { ConfigMap, defineResource, type Instance, manifest, Type, toCrd } from '@keelson/schema';
import { startTestEnv } from '@keelson/testenv';

const Greeting = defineResource({
  group: 'demo.example.com',
  kind: 'Greeting',
  scope: 'Namespaced',
  description: 'A text in a ConfigMap.',
  version: 'v1',
  spec: Type.Object({ text: Type.String({ default: 'hello' }) }),
  status: Type.Object({}),
});

const greeting = defineOperator({
  name: 'greeting',
  resource: Greeting,
  owns: [ConfigMap],
  reconcile: ({ self }) =>
    apply({ objects: [manifest(ConfigMap, { name: self.metadata.name }, { data: { text: self.spec.text } })] }),
});

const instance: Instance<typeof Greeting> = {
  apiVersion: 'demo.example.com/v1',
  kind: 'Greeting',
  metadata: { name: 'world', namespace: 'default' },
  spec: { text: 'hello world' },
};

const rendered = renderInstance(greeting, instance);
console.log(`rendered ${JSON.stringify(rendered).includes('hello world')}`);

const env = await startTestEnv({ level: 'api', crds: [toCrd(Greeting)] });
const client = createClient(await loadConfig({ kubeconfig: env.kubeconfig }));
const stop = new AbortController();
const manager = createManager({ client, operators: [greeting], leaderElection: false });
const running = manager.run(stop.signal);
await client.create(Greeting, instance);
let text: string | undefined;
for (let tries = 0; tries < 100 && text === undefined; tries++) {
  text = (await client.find(ConfigMap, { name: 'world', namespace: 'default' }))?.data?.text;
  await sleep(100);
}
console.log(`applied ${text}`);
stop.abort();
await running;
await client.close();
await env.stop();
console.log(`node ${process.versions.node.split('.')[0]} done`);
