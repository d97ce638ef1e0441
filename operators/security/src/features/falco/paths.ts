/** Files that more than one part of the feature speaks of. */
import { LOG_ROOT } from '../../telemetry/source.ts';

/** The folder of events, on the node and in the pod. */
export const EVENTS_FOLDER = `${LOG_ROOT}/falco`;
export const EVENTS_FILE = `${EVENTS_FOLDER}/events.log`;

/** In the pod. */
export const paths = {
  /** Where Falco looks for what belongs to the node. */
  host: '/host',
  /** Rules in the image. */
  shippedRules: '/etc/falco/falco_rules.yaml',
  /** The ConfigMap of the feature, and its files. */
  config: '/etc/falco-agent',
  configFile: 'falco.yaml',
  techniqueRules: 'technique-rules.yaml',
  /** The ConfigMap with the rules of the user. */
  rules: '/etc/falco-rules',
  /** Where the loader leaves a driver that it built or found. */
  driver: '/root/.falco',
} as const;
