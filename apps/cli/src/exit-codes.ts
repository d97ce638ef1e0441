/**
 * The exit codes of `keelson`, as one table: the code uses the names, `keelson help exit-codes` and the reference print the words.
 * A script may rely on them: a code never changes its meaning.
 */
export const exitCodes = {
  ok: { code: 0, meaning: 'Done, or nothing to do.' },
  failed: { code: 1, meaning: 'The command was understood but failed; stderr says why.' },
  usage: {
    code: 2,
    meaning:
      'Bad input: an unknown option, a file that is not YAML, an unknown kind, an instance that fails validation, that its operator rejects, or for which `plan` finds an object that is somebody else’s.',
  },
  unreachable: {
    code: 3,
    meaning:
      'No usable cluster, or for `report` no usable store: unreachable, a wrong kubeconfig, or credentials that were refused or have expired.',
  },
  pending: {
    code: 4,
    meaning: 'There is a difference: `plan --exit-code` found changes, or `generate --check` found stale files.',
  },
  forbidden: {
    code: 5,
    meaning: 'The cluster or the store refused for lack of permission; stderr names what is lacking.',
  },
  missing: { code: 6, meaning: 'What was asked for is not in the cluster: the instance, or the CRD of its kind.' },
  unready: { code: 7, meaning: '`status --exit-code` found an instance that is not Ready.' },
  undelivered: {
    code: 8,
    meaning: '`report` could not store everything; the summary on stdout counts what is missing and says why.',
  },
  interrupted: { code: 130, meaning: 'Ended at once by a second Ctrl-C.' },
} as const satisfies Record<string, { code: number; meaning: string }>;

export type ExitName = keyof typeof exitCodes;

/** The table as plain text, for `keelson help exit-codes`. */
export function exitCodesText(): string {
  return Object.values(exitCodes)
    .map(({ code, meaning }) => `${String(code).padStart(4)}  ${meaning}`)
    .join('\n');
}
