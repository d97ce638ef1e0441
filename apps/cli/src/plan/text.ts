/** A plan for people: one line a step, the fields below it, and a sum at the end. Pure. */
import { type Change, describeTaker, type Refusal, type Step } from '@keelson/runtime';
import type { KubeObject } from '@keelson/schema';
import { nameOf } from '../input/instances.ts';
import type { Palette } from '../output/palette.ts';
import { lineDiff } from './line-diff.ts';
import type { InstancePlan } from './plan.ts';

export function planText(plans: readonly InstancePlan[], paint: Palette): string {
  return `${plans.map((one) => instanceText(one, paint)).join('\n')}\n${summary(plans, paint)}\n`;
}

function instanceText({ instance, exists, decision, plan, faults, pods }: InstancePlan, paint: Palette): string {
  const place = instance.metadata.namespace === undefined ? '' : ` in ${instance.metadata.namespace}`;
  const head = `${paint.strong(nameOf(instance))}${place}${exists ? '' : ' (new)'}`;
  if (decision.kind === 'wait') return `${head}: ${paint.warn('waits')}: ${decision.reason}: ${decision.message}\n`;
  if (decision.kind === 'expire') return `${head}: ${paint.warn('expires')}: ${decision.reason}: ${decision.message}\n`;
  if (decision.kind === 'reject') return `${head}: ${paint.bad('rejected')}: ${decision.reason}: ${decision.message}\n`;
  const lines = [
    ...plan.steps.flatMap((step, index) => stepLines(step, pods[index] ?? [], paint)),
    ...refusalLines(plan.refusals, paint),
    ...faults.map(
      ({ step, message }) =>
        `${paint.bad('!')} the API server would not ${step.action} ${label(objectOf(step))}: ${message}`,
    ),
  ];
  if (lines.length === 0) return `${head}: nothing to do\n`;
  return `${head}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

/** Of objects that are refused for the same reason it is told once, below them. */
function refusalLines(refusals: readonly Refusal[], paint: Palette): string[] {
  const reasons = new Map<string, Refusal[]>();
  for (const refusal of refusals) reasons.set(refusal.together, [...(reasons.get(refusal.together) ?? []), refusal]);
  return [...reasons].flatMap(([together, alike]) => {
    const lines = alike.map(({ object }) => `${paint.bad('!')} refuse ${label(object)}`);
    if (alike.length > 1) return [...lines, `    they ${together}`];
    return lines.map((line) => `${line}: ${alike[0]?.because}`);
  });
}

/** What a step is about: as wanted, or as it is when it goes. */
export function objectOf(step: Step): KubeObject {
  return step.action === 'delete' ? step.live : step.object;
}

function stepLines(step: Step, pods: readonly string[], paint: Palette): string[] {
  if (step.action === 'create') return [`${paint.good('+')} create ${label(step.object)}`];
  if (step.action === 'delete') return [`${paint.bad('-')} delete ${label(step.live)}: ${step.because}`];
  const fields = step.changes.flatMap((change) => changeLines(change, paint));
  const restarts = step.restarts
    ? [`    ${paint.warn('restarts pods')}: ${pods.length === 0 ? 'all it has' : pods.join(', ')}`]
    : [];
  return [`${paint.warn('~')} change ${label(step.object)}`, ...fields, ...restarts];
}

/** A field on a line; a long text by the lines that change, because its beginning seldom does. */
function changeLines(change: Change, paint: Palette): string[] {
  const { path, from, to } = change;
  const taker = paint.faint(describeTaker(change));
  if (typeof from !== 'string' || typeof to !== 'string' || from.length + to.length <= longest || !from.includes('\n'))
    return [`    ${path}: ${paint.faint(show(from))} → ${show(to)}${taker}`];
  const lines = lineDiff(from, to);
  const shown = lines
    .slice(0, mostLines)
    .map((line) => `      ${line.startsWith('+') ? paint.good(line) : paint.bad(line)}`);
  const more = lines.length - shown.length;
  return [`    ${path}:${taker}`, ...shown, ...(more > 0 ? [`      … and ${more} lines more`] : [])];
}

function label({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`;
}

const longest = 60;
const mostLines = 12;

/** A value on one line; long ones are cut. */
function show(value: unknown): string {
  if (value === undefined) return '(absent)';
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

function summary(plans: readonly InstancePlan[], paint: Palette): string {
  const steps = plans.flatMap(({ plan }) => plan.steps);
  const count = (action: Step['action']): number => steps.filter((step) => step.action === action).length;
  const refused = plans.flatMap(({ plan }) => plan.refusals).length;
  const restarts = plans.flatMap(({ pods }) => pods.flat()).length;
  if (steps.length === 0 && refused === 0) return 'Plan: nothing to do.';
  return `${paint.strong('Plan:')} ${count('create')} to create, ${count('change')} to change, ${count('delete')} to delete${refused === 0 ? '' : `, ${refused} refused`}; ${restarts} ${restarts === 1 ? 'pod restarts' : 'pods restart'}.`;
}
