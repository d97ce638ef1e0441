/** The list of features. A new one is a folder beside this file and a line here. */
import { type Feature, featureList } from '../feature.ts';
import { falco } from './falco/feature.ts';
import { kyverno } from './kyverno/feature.ts';
import { osquery } from './osquery/feature.ts';
import { otelPipeline } from './otel-pipeline/feature.ts';
import { tetragon } from './tetragon/feature.ts';
import { trivy } from './trivy/feature.ts';

export const features: readonly Feature[] = featureList([
  // One a line, so that a tool comes and goes with its line.
  falco,
  kyverno,
  osquery,
  otelPipeline,
  tetragon,
  trivy,
]);
