/** `plan`: what would happen in the cluster if these instances were applied. Reads only. */
import type { KubeClient } from '@keelson/kube';
import { type Decision, type Plan, previewInstance, type Step } from '@keelson/runtime';
import type { KubeObject } from '@keelson/schema';
import { withCluster } from '../cluster/connect.ts';
import type { PlanOptions } from '../commands/plan.ts';
import { loadProject } from '../config/load-config.ts';
import { asOperator } from '../config/operator-failure.ts';
import { exitCodes } from '../exit-codes.ts';
import { failure } from '../failure.ts';
import { invalidInstance, nameOf, noteOthers, sortManifests } from '../input/instances.ts';
import { readManifests } from '../input/manifests.ts';
import { format } from '../output/format.ts';
import type { Shell } from '../shell.ts';
import { restartingPods } from './restarting-pods.ts';
import { objectOf, planText } from './text.ts';

/** The plan for one instance, with the pods that each change replaces. */
export interface InstancePlan {
  readonly instance: KubeObject;
  /** It is in the cluster already. */
  readonly exists: boolean;
  readonly decision: Decision;
  readonly plan: Plan;
  /** What the API server would refuse. */
  readonly faults: readonly { readonly step: Step; readonly message: string }[];
  /** Names of pods by step, in step order; empty where none restarts. */
  readonly pods: readonly (readonly string[])[];
}

export async function plan(options: PlanOptions, shell: Shell): Promise<void> {
  const { operators } = await loadProject(options, shell);
  const { instances, others } = sortManifests(await readManifests(options.filename, shell), operators);
  noteOthers(others, shell);
  const plans = await withCluster(options, shell, async ({ client, config }) => {
    const namespace = options.namespace ?? config.namespace;
    const made: InstancePlan[] = [];
    for (const { operator, manifest } of instances) {
      const { problems, warnings, decision, ...preview } = await asOperator(operator, () =>
        previewInstance({ operator, client, object: manifest.object, namespace, beside: others }),
      );
      if (problems.length > 0 || decision === undefined) throw invalidInstance(manifest, problems);
      for (const warning of warnings) shell.note(`warning: ${nameOf(manifest.object)}: ${warning}\n`);
      made.push({ instance: manifest.object, decision, ...preview, pods: await podsOf(client, preview.plan) });
    }
    return made;
  });
  shell.out(
    options.output === undefined ? planText(plans, shell.paint) : format({ plans: plans.map(toData) }, options.output),
  );
  const obstacles = plans.flatMap(obstaclesOf);
  if (obstacles.length > 0)
    throw failure(
      'usage',
      obstacles.join('\n  '),
      'correct the instance, or see above what to do; the rest of the plan stands there',
    );
  if (options.exitCode === true && plans.some(isPending)) shell.exitWith(exitCodes.pending.code);
}

async function podsOf(client: KubeClient, { steps }: Plan): Promise<string[][]> {
  return Promise.all(
    steps.map(async (step) => (step.action === 'change' && step.restarts ? restartingPods(client, step.live) : [])),
  );
}

function isPending({ plan: { steps } }: InstancePlan): boolean {
  return steps.length > 0;
}

/** Why an instance cannot be carried out as it was handed in: its operator rejects it, or an object is somebody else's. */
function obstaclesOf({ instance, decision, plan: { refusals } }: InstancePlan): string[] {
  const name = nameOf(instance);
  return [
    ...(decision.kind === 'reject' ? [`${name} is rejected: ${decision.reason}: ${decision.message}`] : []),
    ...(refusals.length === 0
      ? []
      : [`${name} is refused ${refusals.length === 1 ? 'an object' : `${refusals.length} objects`}`]),
  ];
}

function toData({
  instance,
  exists,
  decision,
  plan: { steps, refusals },
  faults,
  pods,
}: InstancePlan): Record<string, unknown> {
  return {
    instance: reference(instance),
    exists,
    decision: decision.kind,
    ...(decision.kind === 'apply' ? {} : { reason: decision.reason, message: decision.message }),
    steps: steps.map((step, index) => ({
      action: step.action,
      ...reference(objectOf(step)),
      because: step.because,
      ...(step.action === 'change' ? { changes: step.changes, restarts: step.restarts, pods: pods[index] ?? [] } : {}),
    })),
    refusals: refusals.map(({ object, because }) => ({ ...reference(object), because })),
    faults: faults.map(({ step, message }) => ({ action: step.action, ...reference(objectOf(step)), message })),
  };
}

function reference({ apiVersion, kind, metadata }: KubeObject): Record<string, unknown> {
  return {
    apiVersion,
    kind,
    name: metadata.name,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  };
}
