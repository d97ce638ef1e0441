import { defineConfig } from 'vitest/config';

const conditions = ['keelson-source'];

/** Tests beside the code that need third-party parts which take minutes to build. */
const partsBeside = '{operators,apps}/*/src/**/*.parts.test.ts';
/** Tests beside the code that break things, or go on for minutes. */
const faultsBeside = 'operators/*/src/**/*.faults.test.ts';

/**
 * Four suites: `beside` stands beside the code, `parts` gives what we generate to the programs that read it, `faults`
 * breaks things and takes its time, `pack` tries what we would publish.
 */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    pool: 'forks',
    execArgv: ['--conditions=keelson-source', '--disable-warning=ExperimentalWarning'],
    retry: Number(process.env.KEELSON_RETRIES ?? 0),
    reporters: ['default', './tests/reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'beside',
          include: ['{packages,examples,operators,apps}/*/src/**/*.test.ts', 'testbed/src/**/*.test.ts'],
          exclude: [partsBeside, faultsBeside],
          maxWorkers: 2,
          // Longer than any wait in a test: who waits in vain says what for.
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['tests/parts/**/*.test.ts', partsBeside],
          maxWorkers: 2,
          testTimeout: 300_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'faults',
          include: ['tests/faults/**/*.test.ts', faultsBeside],
          fileParallelism: false,
          testTimeout: 900_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'pack',
          include: ['tests/pack/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 900_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
