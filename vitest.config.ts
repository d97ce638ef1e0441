import { defineConfig } from 'vitest/config';

const conditions = ['keelson-source'];

/** Three suites: `beside` stands beside the code, `faults` breaks things and takes its time, `pack` tries what we would publish. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    pool: 'forks',
    execArgv: ['--conditions=keelson-source', '--disable-warning=ExperimentalWarning'],
    reporters: ['default', './tests/reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'beside',
          include: ['{packages,examples,operators,apps}/*/src/**/*.test.ts', 'testbed/src/**/*.test.ts'],
          maxWorkers: 2,
          testTimeout: 60_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'faults',
          include: ['tests/faults/**/*.test.ts'],
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
