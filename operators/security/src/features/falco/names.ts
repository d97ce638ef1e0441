/** ConfigMap with the configuration and the rules for techniques. */
export const CONFIG = 'falco';
/** ConfigMap with the rules of the user. */
export const RULES = 'falco-rules';
