/** What a user may say about Tetragon: the schema of its config, and what a schema cannot say. */
import { freeForm, int32, type Problem, type Static, Type } from '@keelson/schema';
import { builtInPolicyNames } from './policies.ts';

export const tetragonConfig = Type.Object({
  image: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: 'Another image of Tetragon, taken as it is.' }),
  ),
  policies: Type.Object(
    {
      builtIn: Type.Array(Type.Enum(builtInPolicyNames), {
        default: builtInPolicyNames,
        maxItems: builtInPolicyNames.length,
        uniqueItems: true,
        description:
          'Which of the policies for techniques: shell-execution (T1059.004), credential-access (T1552.001), container-escape ' +
          '(T1611), cron-schedule (T1053.003).',
      }),
      own: Type.Optional(
        Type.Record(Type.String(), freeForm(), {
          maxProperties: 100,
          description: 'More policies: by name, the spec of a TracingPolicy.',
          examples: [
            {
              'module-load': {
                kprobes: [{ call: 'do_init_module', syscall: false, args: [{ index: 0, type: 'module' }] }],
              },
            },
          ],
        }),
      ),
    },
    { default: {}, description: 'What is looked for in the kernel, as objects of kind TracingPolicy.' },
  ),
  events: Type.Array(
    Type.Enum([
      'PROCESS_EXEC',
      'PROCESS_EXIT',
      'PROCESS_KPROBE',
      'PROCESS_TRACEPOINT',
      'PROCESS_LSM',
      'PROCESS_UPROBE',
      'PROCESS_USDT',
      'PROCESS_LOADER',
    ]),
    {
      default: [
        'PROCESS_EXEC',
        'PROCESS_KPROBE',
        'PROCESS_TRACEPOINT',
        'PROCESS_LSM',
        'PROCESS_UPROBE',
        'PROCESS_USDT',
      ],
      minItems: 1,
      maxItems: 8,
      description:
        'Which events are written. PROCESS_EXEC is every program that a pod starts; the others come from policies.',
    },
  ),
  ignoreNamespaces: Type.Array(Type.String({ minLength: 1, maxLength: 63 }), {
    default: ['kube-system'],
    maxItems: 100,
    description:
      'Namespaces whose events are not written: network and storage agents mount and enter namespaces all day.',
  }),
  redact: Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
    default: ['(?i)--?(?:password|passwd|token|secret|api-?key)(?:\\s+|=)(\\S+)'],
    maxItems: 50,
    description:
      'What the arguments of processes must not show: regular expressions (RE2); what their groups catch is written as *****.',
  }),
  log: Type.Object(
    {
      maxSizeMB: int32({ default: 50, minimum: 1, maximum: 10_000, description: 'A larger file is rotated.' }),
      maxFiles: int32({ default: 5, minimum: 1, maximum: 100, description: 'How many rotated files are kept.' }),
    },
    { default: {}, description: 'The file of events on every node.' },
  ),
});

export type TetragonConfig = Static<typeof tetragonConfig>;

/** Everything that a schema cannot say of it. */
export function checkConfig({ policies, redact }: TetragonConfig): readonly Problem[] {
  return [
    ...Object.keys(policies.own ?? {}).flatMap(checkName),
    ...redact.flatMap((expression, index) => checkExpression(expression, `redact[${index}]`)),
  ];
}

/** Dots, which names may have elsewhere, cannot be had here: see policyName. */
function checkName(name: string): readonly Problem[] {
  const path = `policies.own[${JSON.stringify(name)}]`;
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
    return [
      { path, message: "must be named in lower-case letters, digits and '-', at most 63 of them, e.g. 'module-load'" },
    ];
  return builtInPolicyNames.some((builtIn) => builtIn === name)
    ? [
        {
          path,
          message: `is the name of a built-in policy: choose another, and leave '${name}' out of policies.builtIn`,
        },
      ]
    : [];
}

/** Tetragon does not start on an expression that it cannot read; what RE2 has and JavaScript has not is let through. */
function checkExpression(expression: string, path: string): readonly Problem[] {
  if (/\(\?<?[=!]|\\[1-9]|\\k</.test(expression))
    return [{ path, message: 'must do without look-around and back-references: RE2 has none' }];
  try {
    new RegExp(expression.replaceAll(/\(\?[imsU]+\)/g, '').replaceAll('(?P<', '(?<'));
  } catch (error) {
    return [{ path, message: `is not a regular expression: ${(error as Error).message}` }];
  }
  return [];
}
