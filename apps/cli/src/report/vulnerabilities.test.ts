/** `keelson report vulnerabilities` as the CronJob runs it: a real API server with the real CRD, and a store that can fail. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensurePart } from '@keelson/testbed';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { keelson, startKeelson } from '../testing/keelson.ts';
import { vulnerability, vulnerabilityReport } from './testing/reports.ts';
import { type SearchStore, startSearchStore } from './testing/search-store.ts';
import type { VulnerabilityReport } from './vulnerability-report.ts';

const password = 'correct-horse';
const credentials = { ELASTICSEARCH_USERNAME: 'elastic', ELASTICSEARCH_PASSWORD: password };
const folder = '/apis/aquasecurity.github.io/v1alpha1/namespaces';

describe('keelson report vulnerabilities', () => {
  let env: TestEnv;
  let store: SearchStore;
  let namespace: string;
  beforeAll(async () => {
    const { path } = await ensurePart('crds');
    const crd = join(path, 'trivy-operator/aquasecurity.github.io_vulnerabilityreports.yaml');
    env = await startTestEnv({ crds: [crd] });
  });
  beforeEach(async () => {
    store = await startSearchStore();
    namespace = await env.createNamespace();
    return () => store[Symbol.asyncDispose]();
  });
  afterAll(() => env?.stop());

  const put = (report: VulnerabilityReport) =>
    env.adminRequest('POST', `${folder}/${namespace}/vulnerabilityreports`, {
      ...report,
      metadata: { ...report.metadata, namespace },
    });
  const uidOf = async (name: string) => {
    const { metadata } = (await env.adminRequest('GET', `/api/v1/namespaces/${name}`)) as { metadata: { uid: string } };
    return metadata.uid;
  };
  const remove = (name: string) =>
    env.adminRequest('DELETE', `${folder}/${namespace}/vulnerabilityreports/replicaset-${name}-web`);

  async function report(
    args: readonly string[] = [],
    more: Record<string, string> = credentials,
    kubeconfig = env.kubeconfig,
  ) {
    const outcome = await keelson(
      [
        'report',
        'vulnerabilities',
        '--url',
        store.url,
        '--cluster-name',
        'prod',
        '-n',
        namespace,
        '--kubeconfig',
        kubeconfig,
        ...args,
      ],
      { env: more },
    );
    expect(outcome.stdout + outcome.stderr).not.toContain(password);
    const last = outcome.stdout.trimEnd().split('\n').at(-1) ?? '';
    return { ...outcome, summary: last.startsWith('{') ? JSON.parse(last) : undefined };
  }

  const statuses = () =>
    Object.fromEntries(
      [...store.documents.values()].map((source) => {
        const { id, status } = source.vulnerability as { id: string; status: string };
        return [id, status];
      }),
    );

  it('given reports on several pages, when run twice, then every vulnerability is stored once; when one goes it is resolved, when it returns it is open', async () => {
    for (let index = 0; index < 7; index += 1)
      await put(
        vulnerabilityReport(`web-${index}`, [vulnerability(`CVE-${index}-1`), vulnerability(`CVE-${index}-2`)]),
      );
    const first = await report(['--page-size', '3']);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.summary).toEqual({
      cluster: 'prod',
      index: 'security-vuln',
      namespace,
      complete: true,
      reports: 7,
      documents: 14,
      created: 14,
      updated: 0,
      unchanged: 0,
      resolved: 0,
      missing: 0,
      refused: [],
      retries: 0,
      seconds: expect.any(Number),
    });
    expect(store.documents.size).toBe(14);
    const born = [...store.documents.values()].map(({ event }) => (event as { created: string }).created);

    await remove('web-0');
    const second = await report();
    expect(second.summary).toMatchObject({ documents: 12, created: 0, updated: 12, resolved: 2 });
    expect(store.documents.size).toBe(14);
    expect(statuses()).toMatchObject({ 'CVE-0-1': 'resolved', 'CVE-0-2': 'resolved', 'CVE-1-1': 'open' });
    expect([...store.documents.values()].map(({ event }) => (event as { created: string }).created)).toEqual(born);

    expect((await report()).summary).toMatchObject({ updated: 12, resolved: 0 });
    await put(vulnerabilityReport('web-0', [vulnerability('CVE-0-1')]));
    expect((await report()).summary).toMatchObject({ documents: 13, updated: 13, resolved: 0 });
    expect(statuses()).toMatchObject({ 'CVE-0-1': 'open', 'CVE-0-2': 'resolved' });
    const returned = [...store.documents.values()].find(
      (source) => (source.vulnerability as { id: string }).id === 'CVE-0-1',
    );
    expect(returned?.event).toMatchObject({ end: null });
  });

  it('given documents of another cluster or namespace in the index, when this one is reported, then those stay open', async () => {
    await put(vulnerabilityReport('web', [vulnerability('CVE-1')]));
    await report(['--cluster-name', 'test']);
    const elsewhere = await env.createNamespace();
    await keelson([
      'report',
      'vulnerabilities',
      '--url',
      store.url,
      '--cluster-name',
      'prod',
      '-n',
      elsewhere,
      '--kubeconfig',
      env.kubeconfig,
    ]);
    await remove('web');
    expect((await report()).summary).toMatchObject({ documents: 0, resolved: 0 });
    expect(statuses()).toEqual({ 'CVE-1': 'open' });
    expect((await report(['--cluster-name', 'test'])).summary).toMatchObject({ resolved: 1 });
  });

  it('given a store that fails now and then, when run, then everything is stored and it ends with 0', async () => {
    await put(vulnerabilityReport('web', [vulnerability('CVE-1'), vulnerability('CVE-2')]));
    store.fail({ answer: 429 }, 'reset');
    const { code, summary, stderr } = await report();
    expect({ code, summary }).toMatchObject({ code: 0, summary: { complete: true, created: 2, retries: 2 } });
    expect(stderr).toMatch(/^note: the store: it answered 429; next attempt in 0\.\d s\n/);
  });

  it('given a document that the store refuses, when run, then the rest is stored, the reason is told, and the exit code says so; it does not count as resolved', async () => {
    await put(vulnerabilityReport('web', [vulnerability('CVE-1'), vulnerability('CVE-2')]));
    await report();
    const [bad] = store.documents.keys();
    store.refuse((id) => (id === bad ? { status: 400, type: 'mapper_parsing_exception', reason: 'no' } : undefined));
    const { code, summary, stderr } = await report();
    expect({ code, stderr }).toEqual({
      code: 8,
      stderr: expect.stringMatching(/^error: the store refused 1 of 2 documents\nremedy: /),
    });
    expect(summary).toMatchObject({
      complete: true,
      updated: 1,
      missing: 1,
      resolved: 0,
      refused: [{ id: bad, status: 400, reason: 'mapper_parsing_exception: no' }],
    });
    expect(Object.values(statuses())).toEqual(['open', 'open']);
  });

  it('given a store that refuses the credentials, when run, then nothing is lost in silence', async () => {
    await put(vulnerabilityReport('web', [vulnerability('CVE-1')]));
    store.fail({ answer: 401, body: JSON.stringify({ error: { type: 'security_exception', reason: password } }) });
    const { code, summary, stderr } = await report();
    expect({ code, summary }).toMatchObject({ code: 3, summary: { complete: false, documents: 1, missing: 1 } });
    expect(stderr).toContain('it refused the credentials: 401 security_exception: [redacted]');
  });

  it('given SIGTERM while it waits for the store, when it ends, then the summary says what is missing', async () => {
    await put(vulnerabilityReport('web', [vulnerability('CVE-1')]));
    store.fail({ answer: 429, headers: { 'retry-after': '30' } });
    const child = startKeelson([
      'report',
      'vulnerabilities',
      '--url',
      store.url,
      '-n',
      namespace,
      '--kubeconfig',
      env.kubeconfig,
    ]);
    let stdout = '';
    child.stdout.on('data', (text) => (stdout += String(text)));
    const ended = new Promise((done) => child.once('close', done));
    await vi.waitFor(() => expect(store.requests).toHaveLength(1), 20_000);
    await new Promise((done) => child.stderr.once('data', done));
    child.kill('SIGTERM');
    expect(await ended).toBe(8);
    expect(JSON.parse(stdout)).toMatchObject({ complete: false, missing: 1 });
  });

  it('given --dry-run, when run, then the documents are printed and no store is asked', async () => {
    await put(vulnerabilityReport('web', [vulnerability('CVE-1')]));
    const { code, stdout, stderr } = await keelson([
      'report',
      'vulnerabilities',
      '--dry-run',
      '-n',
      namespace,
      '--kubeconfig',
      env.kubeconfig,
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ _id: expect.any(String), vulnerability: { id: 'CVE-1' } });
    expect(JSON.parse(stderr)).toEqual({
      cluster: await uidOf('kube-system'),
      index: 'security-vuln',
      namespace,
      complete: true,
      reports: 1,
      documents: 1,
      seconds: expect.any(Number),
    });
    expect(store.requests).toEqual([]);
  });

  it('given no name and no right to see what the cluster has of its own, when run, then nothing is stored, and the remedy is told', async () => {
    await put(vulnerabilityReport('web', [vulnerability('CVE-1')]));
    const kubeconfig = await env.kubeconfigFor({ user: 'nobody' });
    const args = ['report', 'vulnerabilities', '--url', store.url, '-n', namespace, '--kubeconfig', kubeconfig];
    const { code, stderr } = await keelson(args, { env: credentials });
    expect({ code, stderr }).toEqual({
      code: 5,
      stderr: expect.stringMatching(
        /no name to be told from others by: [\s\S]*remedy: name the cluster with --cluster-name/,
      ),
    });
    expect(store.requests).toEqual([]);
  });

  it('given two clusters without names that share a store, when both report, then neither resolves what the other has found', async () => {
    const { path } = await ensurePart('crds');
    const crd = join(path, 'trivy-operator/aquasecurity.github.io_vulnerabilityreports.yaml');
    await using other = await startTestEnv({ crds: [crd] });
    await put(vulnerabilityReport('web', [vulnerability('CVE-1')]));
    const run = async (kubeconfig: string) => {
      const args = ['report', 'vulnerabilities', '--url', store.url, '--kubeconfig', kubeconfig];
      const { stdout } = await keelson(args, { env: credentials });
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const mine = await run(env.kubeconfig);
    const theirs = await run(other.kubeconfig);
    expect(mine).toMatchObject({ complete: true, cluster: await uidOf('kube-system') });
    expect(theirs).toMatchObject({ complete: true, documents: 0, resolved: 0 });
    expect(statuses()).toMatchObject({ 'CVE-1': 'open' });
  });

  it('given a user without the right to list reports, when run, then it ends with 5 and names the right', async () => {
    const kubeconfig = await env.kubeconfigFor({ user: 'nobody' });
    const { code, stderr } = await report([], credentials, kubeconfig);
    expect({ code, stderr }).toEqual({
      code: 5,
      stderr: expect.stringContaining('resources ["vulnerabilityreports"], verbs ["list"]'),
    });
  });

  it('given a cluster without trivy-operator, when run, then it ends with 6 and says what is missing', async () => {
    await using bare = await startTestEnv();
    const { code, stderr, summary } = await report([], credentials, bare.kubeconfig);
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr: expect.stringMatching(
        /vulnerabilityreports\.aquasecurity\.github\.io[\s\S]*remedy: trivy-operator writes them/,
      ),
    });
    expect(summary).toMatchObject({ complete: false });
  });

  it('given a store behind TLS, when run, then its certificate is checked against the CA file, and only --insecure-skip-verify does without', async () => {
    await put(vulnerabilityReport('web', [vulnerability('CVE-1')]));
    // The API server itself has a certificate of an authority of its own. It is no store, and says so only to whom trusts it.
    const file = join(await mkdtemp(join(tmpdir(), 'keelson-ca-')), 'ca.pem');
    await writeFile(file, env.authority);
    const refused = { code: 3, stderr: expect.stringContaining('its certificate is refused (') };
    expect(await report(['--url', env.url])).toMatchObject(refused);
    const answered = { code: 5, stderr: expect.stringContaining('the user lacks a privilege: 403 ') };
    expect(await report(['--url', env.url, '--ca-file', file])).toMatchObject(answered);
    expect(await report(['--url', env.url, '--insecure-skip-verify'])).toMatchObject(answered);
  });

  it('given pages that take longer than the API server keeps its snapshot, when run, then it goes on with the next ones', async () => {
    const { path } = await ensurePart('crds');
    const crd = join(path, 'trivy-operator/aquasecurity.github.io_vulnerabilityreports.yaml');
    // Without snapshots in its memory, as before Kubernetes 1.34, the server depends on what etcd keeps.
    await using quick = await startTestEnv({
      crds: [crd],
      apiServerFlags: { 'etcd-compaction-interval': '1s', 'feature-gates': 'ListFromCacheSnapshot=false' },
    });
    const url = `${folder}/default/vulnerabilityreports`;
    for (const name of ['a', 'b', 'c'])
      await quick.adminRequest('POST', url, vulnerabilityReport(name, [vulnerability(`CVE-${name}`)]));
    // A thousand documents fill a batch, whose answer makes the first page wait.
    const many = Array.from({ length: 1001 }, (_, index) => vulnerability(`CVE-${index}`, { links: [] } as object));
    await quick.adminRequest('POST', url, vulnerabilityReport('aa', many));
    store.fail({ answer: 429, headers: { 'retry-after': '8' } });
    const reporting = report(['-n', 'default', '--page-size', '2'], credentials, quick.kubeconfig);
    // Only what others write makes a snapshot old.
    let done = false;
    void reporting.finally(() => (done = true));
    while (!done) {
      await quick.adminRequest('POST', '/api/v1/namespaces/default/configmaps', { metadata: { generateName: 'c-' } });
      await sleep(300);
    }
    const { code, summary, stderr } = await reporting;
    expect({ code, stderr, summary }).toMatchObject({
      code: 0,
      summary: { reports: 4, documents: 1004, created: 1004 },
    });
    expect(await quick.audit.entries({ resource: 'vulnerabilityreports', verb: 'list', code: 410 })).toHaveLength(1);
  });
});

describe('bad input of keelson report vulnerabilities', () => {
  it.each([
    [['--index', 'x'], '--url is missing'],
    [['--url', 'elasticsearch:9200'], '--url elasticsearch:9200 is no http or https URL'],
    [['--url', 'https://u:secret@es:9200'], '--url holds credentials'],
    [['--url', 'https://es:9200', '--page-size', '0'], 'Use a number from 1 to 1000.'],
    [['--url', 'https://es:9200', '--ca-file', 'nowhere.pem'], '--ca-file nowhere.pem cannot be read: ENOENT'],
  ])('given %j, when run, then it is refused before anything is asked', async (args, words) => {
    const { code, stderr, stdout } = await keelson(['report', 'vulnerabilities', ...args]);
    expect({ code, stderr, stdout }).toEqual({ code: 2, stderr: expect.stringContaining(words), stdout: '' });
    expect(stderr).not.toContain('u:secret');
  });

  it('given a CA file without a certificate, when run, then it says so', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'keelson-ca-')), 'ca.pem');
    await writeFile(file, 'hello');
    expect((await keelson(['report', 'vulnerabilities', '--url', 'https://es', '--ca-file', file])).stderr).toContain(
      'holds no certificate',
    );
  });
});
