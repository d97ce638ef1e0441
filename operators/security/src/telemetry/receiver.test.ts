import { describe, expect, test } from 'vitest';
import { filelogReceiver, receiverId } from './receiver.ts';
import { census, guard, watcher } from './testing/sources.ts';

type Operator = Readonly<Record<string, unknown>> & { readonly type: string };
const operators = (receiver: object): readonly Operator[] => (receiver as { operators: readonly Operator[] }).operators;
const typesOf = (receiver: object) => operators(receiver).map(({ type }) => type);

describe('the receiver of a tool', () => {
  test('is named after it, and says whose events these are and on which node', () => {
    expect(receiverId(guard)).toBe('filelog/guard');
    expect(filelogReceiver(guard)).toMatchObject({
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the collector's own syntax
      resource: { security_tool: 'guard', 'k8s.node.name': '${env:K8S_NODE_NAME}' },
    });
  });

  test('reads the file and those it was rotated to from the start, with their path, and no compressed ones', () => {
    expect(filelogReceiver(guard)).toMatchObject({
      include: ['/var/log/security/guard/events.log*'],
      exclude: ['/var/log/security/guard/events.log*.gz', '/var/log/security/guard/events.log*.zst'],
      start_at: 'beginning',
      include_file_path: true,
    });
    expect(filelogReceiver(watcher)).toMatchObject({
      include: ['/var/log/security/watcher/events.log*', '/var/log/security/watcher/events-*.log'],
    });
  });

  test('knows a file by more of its beginning than two snapshots of osquery have in common', () => {
    expect(filelogReceiver(guard)).toMatchObject({ fingerprint_size: '16KiB' });
  });

  test('remembers on disk how far it got, and waits when it is refused', () => {
    expect(filelogReceiver(guard)).toMatchObject({
      storage: 'file_storage',
      retry_on_failure: { enabled: true, max_elapsed_time: '0s' },
    });
  });

  test('takes time and severity from where the source says, and only where they are', () => {
    const [, time, level, severity] = operators(filelogReceiver(guard));
    expect(time).toMatchObject({
      type: 'time_parser',
      if: 'attributes.guard?.time != nil',
      parse_from: 'attributes.guard.time',
      layout_type: 'gotime',
      location: 'UTC',
    });
    expect(level).toMatchObject({
      type: 'add',
      field: 'attributes["log.level"]',
      value: expect.stringContaining('attributes.guard?.how?.bad'),
    });
    expect(severity).toMatchObject({
      type: 'severity_parser',
      parse_from: 'attributes["log.level"]',
      mapping: { error: ['Bad'], info: ['Fine'] },
    });
    expect(operators(filelogReceiver(census))[1]).not.toHaveProperty('location');
    expect(typesOf(filelogReceiver(watcher))).toEqual(['json_parser', 'add']);
  });

  test('keeps integers, and a line that it cannot parse', () => {
    expect(operators(filelogReceiver(guard))[0]).toEqual({
      type: 'json_parser',
      parse_to: 'attributes.guard',
      parse_ints: true,
      on_error: 'send_quiet',
    });
    const parsers = operators(filelogReceiver(guard)).filter(({ type }) => type.endsWith('_parser'));
    expect(parsers.map((parser) => parser.on_error)).toEqual(['send_quiet', 'send_quiet', 'send_quiet']);
  });
});
