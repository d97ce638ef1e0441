import { describe, expect, it } from 'vitest';
import { namesFor } from './names.ts';

describe('namesFor', () => {
  it.each([
    ['demo', { kind: 'Demo', value: 'demo', plural: 'demos' }],
    ['mail-box', { kind: 'MailBox', value: 'mailBox', plural: 'mailboxes' }],
    ['proxy', { kind: 'Proxy', value: 'proxy', plural: 'proxies' }],
    ['tcp-relay2', { kind: 'TcpRelay2', value: 'tcpRelay2', plural: 'tcprelay2s' }],
  ])('given %s, when named, then kind, value and plural follow', (name, names) => {
    expect(namesFor(name, 'example.com')).toEqual({ name, group: 'example.com', ...names });
  });

  it.each(['Demo', '1st', 'a--b', 'a-', 'x'.repeat(41), ''])(
    'given %j, when named, then it is refused with an example',
    (name) => {
      expect(() => namesFor(name, 'example.com')).toThrow(`'${name}' is no name for an operator`);
    },
  );

  it.each(['example', 'Example.com', 'a..b'])('given the group %j, when named, then it is refused', (group) => {
    expect(() => namesFor('demo', group)).toThrow(`'${group}' is no API group`);
  });
});
