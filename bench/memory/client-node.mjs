/** The peer in JavaScript: the informer of @kubernetes/client-node. It has no metadata-only mode. Arguments: kubeconfig, `full`, namespace. */
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { givenArguments, memoryNow, tell } from './report.mjs';

const { kubeconfig, namespace } = givenArguments();
const before = memoryNow();
const started = performance.now();
const config = new KubeConfig();
config.loadFromFile(kubeconfig);
const core = config.makeApiClient(CoreV1Api);
const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
  core.listNamespacedConfigMap({ namespace }),
);
await informer.start();
const syncMs = performance.now() - started;
await tell({ objects: informer.list().length, before, syncMs });
