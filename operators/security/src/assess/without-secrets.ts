/**
 * Keeps the environment of a container out of what its program says: a tool that dies with its settings in its last words must not
 * put them into a condition. Values out of Secrets that the agent names are blotted out by the engine as well, wherever they stand.
 */
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.js';

/** Shorter ones ("true", "80") are no secrets, and would tear holes into every sentence. */
const SHORTEST = 6;

/** The text with every value of the environment replaced by its name, and without anything that looks like a credential. */
export function withoutSecrets(text: string, template: PodTemplateSpec | undefined): string {
  const { containers = [], initContainers = [] } = template?.spec ?? {};
  const values = [...containers, ...initContainers]
    .flatMap(({ env = [] }) => env)
    .filter(({ value = '' }) => value.length >= SHORTEST)
    // One may be part of another.
    .sort((a, b) => (b.value?.length ?? 0) - (a.value?.length ?? 0));
  let clean = text;
  for (const { name, value = '' } of values) clean = clean.replaceAll(value, `$${name}`);
  return clean
    .replace(/(\w+:\/\/)[^\s/@]+@/g, '$1…@')
    .replace(/\b(bearer|basic|apikey)\s+[^\s"',;]{6,}/gi, '$1 …')
    .replace(/\b([\w-]*(?:password|passwd|secret|token|api[-_]?key)["']?\s*[=:]\s*)["']?[^\s"',;]+/gi, '$1…');
}
