/**
 * Closes a run with what a reader wants to know: how many tests there were, and how many of them stood before a real
 * Kubernetes API server. A test file counts as real when it names `startTestEnv`, itself or through the stage of its
 * folder (testing/stage.ts, testing/dry-run.ts).
 * With KEELSON_TOTALS set, appends one JSON line to that file, for `.ci/run` to add up and to name at its end what failed, and what
 * failed once and then passed: a test that needs a second attempt is a flaw to mend, though not a reason to turn a change away.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

export default class Totals implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const totals = { passed: 0, failed: errors.length, skipped: 0, real: 0 };
    const remarks: string[] = [];
    for (const module of modules) {
      const real = /startTestEnv|\/testing\/(stage|dry-run)\.ts'/.test(readFileSync(module.moduleId, 'utf8'));
      let tests = 0;
      for (const test of module.children.allTests()) {
        tests++;
        const { state } = test.result();
        if (state === 'passed') totals.passed++;
        else if (state === 'failed') totals.failed++;
        else totals.skipped++;
        const name = `${module.relativeModuleId} > ${test.fullName}`;
        if (state === 'failed') remarks.push(`failed: ${name}`);
        else if (test.diagnostic()?.flaky === true) remarks.push(`passed at the second attempt: ${name}`);
        if (real && state !== 'skipped') totals.real++;
      }
      if (tests === 0 && module.state() === 'failed') {
        totals.failed++;
        remarks.push(`failed: ${module.relativeModuleId}`);
      }
    }
    console.log(`${totals.real} of ${totals.passed + totals.failed} tests ran against a real Kubernetes API server`);
    if (process.env.KEELSON_TOTALS)
      appendFileSync(process.env.KEELSON_TOTALS, `${[JSON.stringify(totals), ...remarks].join('\n')}\n`);
  }
}
