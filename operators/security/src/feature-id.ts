/** The ids of features, and the conditions that are named after them. */

/** Each `_` begins a word with a letter: so that no two ids lead to one condition. */
export const featureIdPattern = '^[a-z][a-z0-9]*(_[a-z][a-z0-9]*)*$';

/** The type of the condition of a feature: `otel_pipeline` → `OtelPipelineReady`. */
export function conditionOf(id: string): string {
  const words = id.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Ready`;
}
