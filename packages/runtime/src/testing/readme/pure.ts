import { renderInstance } from '../../index.ts';
import { greeter } from './operator.ts';

const { problems, objects } = renderInstance(greeter, {
  apiVersion: 'example.com/v1alpha1',
  kind: 'Greeter',
  metadata: { name: 'hello' },
  spec: { text: 'Hello', replicas: 2 },
});
console.log(problems.length); // prints: 0
console.log(objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`).join(', '));
// prints: ConfigMap default/hello, Deployment default/hello
