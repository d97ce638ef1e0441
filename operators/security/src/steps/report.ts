/** Step 7: how every feature does, as conditions and numbers. */
import type { ConditionNote, Observed, StatusNote } from '@keelson/runtime';
import type { KubeObject, Problem } from '@keelson/schema';
import type { AssessContext, Assessment } from '../assess/assessment.ts';
import { type Assessed, summarise } from '../assess/summary.ts';
import { assessWorkloads } from '../assess/workloads.ts';
import type { Contribution } from '../contribution.ts';
import { conditionOf } from '../feature-id.ts';
import { FEATURE_LABEL } from '../names.ts';
import type { Agent, SecurityAgent } from '../resource.ts';
import { storeOf } from '../store.ts';
import type { HealthStanding } from '../telemetry/health/standing.ts';
import type { Standing } from '../telemetry/index-templates/standing.ts';
import { receiverId } from '../telemetry/receiver.ts';
import { VERSION } from '../version.ts';
import { templateOf } from '../workload/template.ts';
import { problemText } from './examine.ts';
import type { Outside } from './outside.ts';
import type { Selection } from './select.ts';

export interface ReportInput {
  readonly observed: Observed<typeof SecurityAgent, Outside | undefined>;
  readonly selection: Selection;
  /** As they are applied. */
  readonly contributions: readonly Contribution[];
  /** All that is applied. */
  readonly objects: readonly KubeObject[];
  readonly unmatched: readonly Problem[];
  readonly templates: Standing;
  readonly health: HealthStanding;
}

/** Step 7. */
export function report({
  observed,
  selection,
  contributions,
  objects,
  unmatched,
  templates,
  health,
}: ReportInput): StatusNote<typeof SecurityAgent> {
  const { self } = observed;
  const assessed = assessFeatures(observed, selection, contributions, health);
  const { condition, featuresReady } = summarise(assessed);
  // What is held has nothing to override now; its own condition says why.
  const waiting = new Set(selection.held.map(({ id }) => `spec.override.perTool.${id}`));
  return {
    conditions: [
      ...assessed.map(({ id, assessment }) => toCondition(conditionOf(id), assessment)),
      ...overrideCondition(
        self,
        unmatched.filter(({ path }) => !waiting.has(path)),
      ),
      ...templates.conditions,
      ...health.conditions,
      condition,
    ],
    features: Object.fromEntries(assessed.map(({ id, assessment }) => [id, assessment.status])),
    featuresReady,
    tools: toolsOf(assessed, selection, contributions),
    pipeline: {
      ...pipelineOf(self, selection),
      ...(templates.text === undefined ? {} : { templates: templates.text }),
      ...(health.tools === undefined ? {} : { tools: health.tools }),
    },
    installed: installedOf(selection, contributions),
    inventory: [...objects, ...selection.kept].map(inventoryText).sort(),
    version: VERSION,
  };
}

function assessFeatures(
  { self, owned, related, failure, now }: ReportInput['observed'],
  { running, held }: Selection,
  contributions: readonly Contribution[],
  { broken }: HealthStanding,
): readonly Assessed[] {
  const runs = running.map(({ feature, config }): Assessed => {
    const { id, title, kinds = [] } = feature;
    const wanted = contributions.find((one) => one.feature === id)?.objects ?? [];
    const { override } = self.spec;
    const context: AssessContext = { title, wanted, kinds, override, owned, related, failure, now };
    const assessment = feature.assess?.(config, context) ?? assessWorkloads(context);
    const carries = feature.followsSources === true && assessment.status === 'True';
    // Pods that run and carry nothing are no pipeline.
    return {
      id,
      title,
      assessment: carries && broken !== undefined ? { ...assessment, ...broken, status: 'False' } : assessment,
    };
  });
  const holds = held.map(({ id, feature, reason, message }): Assessed => {
    return { id, title: feature?.title ?? id, assessment: { status: 'False', reason, message } };
  });
  return [...runs, ...holds];
}

function toCondition(type: string, { status, reason, message }: Assessment): ConditionNote {
  return { type, status, reason, message };
}

/** Only where there are overrides. */
function overrideCondition({ spec }: Agent, unmatched: readonly Problem[]): readonly ConditionNote[] {
  if (spec.override === undefined) return [];
  const type = 'OverridesApplied';
  if (unmatched.length === 0)
    return [{ type, status: 'True', reason: 'AllApplied', message: 'Every override reached what it names' }];
  return [{ type, status: 'False', reason: 'NotApplied', message: problemText(unmatched) }];
}

function toolsOf(assessed: readonly Assessed[], { running }: Selection, contributions: readonly Contribution[]) {
  return Object.fromEntries(
    running.map(({ feature }) => {
      const { ready, desired } = assessed.find(({ id }) => id === feature.id)?.assessment ?? {};
      const objects = contributions.find((one) => one.feature === feature.id)?.objects ?? [];
      const image = objects
        .map((object) => templateOf(object)?.spec?.containers[0]?.image)
        .find((one) => one !== undefined);
      const tool = {
        version: feature.version,
        ...(image === undefined ? {} : { image }),
        ...(ready === undefined ? {} : { ready }),
        ...(desired === undefined ? {} : { desired }),
      };
      return [feature.id, tool];
    }),
  );
}

/** The features that have something in the cluster, as other agents are to see it: those that run, and those that are held and go on. */
function installedOf({ kept }: Selection, contributions: readonly Contribution[]): string[] {
  const running = contributions.filter(({ objects }) => objects.length > 0).map(({ feature }) => feature);
  const going = kept.flatMap(({ metadata }) => metadata.labels?.[FEATURE_LABEL] ?? []);
  return [...new Set([...running, ...going])].sort();
}

/** What flows, and where to: nothing when nobody carries it. */
function pipelineOf({ spec }: Agent, { sources, running }: Selection) {
  const carried = running.some(({ feature }) => feature.followsSources === true);
  const flowing = carried ? sources : [];
  const indices = storeOf(spec.output)?.indices;
  return {
    receivers: flowing.map(receiverId),
    indices: indices === undefined ? [] : [...new Set(flowing.map(({ index }) => indices[index]))],
  };
}

function inventoryText({ kind, metadata }: KubeObject): string {
  return [kind, metadata.namespace, metadata.name].filter((part) => part !== undefined).join('/');
}
