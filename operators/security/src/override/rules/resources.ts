/** What a server demands of the resources of a container: names that it knows, and no request above its limit. */
import type { Problem } from '@keelson/schema';
import type { ResourceRequirements } from 'kubernetes-types/core/v1.js';
import { checkValue } from '../patch/check-value.ts';
import { below } from '../patch/plain.ts';

type Amounts = Readonly<Record<string, string | number>>;

const standard = /^(cpu|memory|ephemeral-storage|hugepages-.+)$/;

/** What is wrong with the resources of a container. */
export function checkResources(resources: ResourceRequirements, path: string): readonly Problem[] {
  const problems = checkValue(resources, 'ResourceRequirements', path);
  if (problems.length > 0) return problems;
  const limits: Amounts = resources.limits ?? {};
  const requests: Amounts = resources.requests ?? {};
  const excessive = Object.entries(requests).filter(([name, amount]) => {
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    return limit !== undefined && worth(amount) > worth(limit) * (1 + Number.EPSILON);
  });
  return [
    ...nameProblems(limits, below(path, 'limits')),
    ...nameProblems(requests, below(path, 'requests')),
    ...excessive.map(([name, amount]) => ({
      path: below(below(path, 'requests'), name),
      message: `${amount} is more than the limit, ${limits[name]}`,
    })),
  ];
}

function nameProblems(amounts: Amounts, path: string): readonly Problem[] {
  return Object.keys(amounts)
    .filter((name) => !standard.test(name) && !name.includes('/'))
    .map((name) => ({
      path: below(path, name),
      message:
        'is no resource: cpu, memory, ephemeral-storage, hugepages-<size>, or one with a domain, e.g. nvidia.com/gpu',
    }));
}

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** What a quantity is worth, near enough to compare two. */
function worth(quantity: string | number): number {
  const [, number = '', suffix = ''] = /^(.*?)([A-Za-z]i?)?$/.exec(String(quantity)) ?? [];
  return Number(number) * (factors[suffix] ?? 1);
}
