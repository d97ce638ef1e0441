import { defineKind, type Kind } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import type { FaultCode } from '../fault.ts';
import type { Subject } from '../path.ts';
import { toAnswerFault } from './answer-fault.ts';

const deployment: Kind = defineKind({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  scope: 'Namespaced',
});
const subject: Subject = { verb: 'patch', kind: deployment, namespace: 'shop', name: 'web' };

function faultOf(status: number, body: unknown, about: Subject = subject) {
  const text =
    typeof body === 'string'
      ? body
      : JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', ...(body as object) });
  return toAnswerFault({ status, body: text, request: 'PATCH /x', subject: about, server: 'https://api' });
}

describe('the code of a fault', () => {
  it.each<[string, number, FaultCode]>([
    ['Unauthorized', 401, 'Unauthorized'],
    ['Forbidden', 403, 'Forbidden'],
    ['NotFound', 404, 'NotFound'],
    ['AlreadyExists', 409, 'AlreadyExists'],
    ['Conflict', 409, 'Conflict'],
    ['Gone', 410, 'Gone'],
    ['Expired', 410, 'Expired'],
    ['Invalid', 422, 'Invalid'],
    ['ServerTimeout', 500, 'ServerTimeout'],
    ['StoreReadError', 500, 'InternalError'],
    ['Timeout', 504, 'ServerTimeout'],
    ['TooManyRequests', 429, 'TooManyRequests'],
    ['BadRequest', 400, 'BadRequest'],
    ['MethodNotAllowed', 405, 'MethodNotAllowed'],
    ['NotAcceptable', 406, 'NotAcceptable'],
    ['RequestEntityTooLarge', 413, 'RequestEntityTooLarge'],
    ['UnsupportedMediaType', 415, 'UnsupportedMediaType'],
    ['InternalError', 500, 'InternalError'],
    ['ServiceUnavailable', 503, 'ServiceUnavailable'],
  ])('given the reason %s, whatever the HTTP status', (reason, status, code) => {
    expect(faultOf(418, { reason, code: status }).code).toBe(code);
  });

  it.each<[number, FaultCode]>([
    [400, 'BadRequest'],
    [403, 'Forbidden'],
    [405, 'MethodNotAllowed'],
    [409, 'Conflict'],
    [410, 'Expired'],
    [413, 'RequestEntityTooLarge'],
    [422, 'Invalid'],
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [502, 'ServiceUnavailable'],
    [503, 'ServiceUnavailable'],
    [504, 'ServerTimeout'],
    [418, 'UnexpectedAnswer'],
  ])('given no Status, by HTTP status %i', (status, code) => {
    expect(faultOf(status, '<html>nginx</html>').code).toBe(code);
    expect(faultOf(status, { reason: '' }).code).toBe(code);
  });

  it('given a reason of the future, by HTTP status', () => {
    expect(faultOf(409, { reason: 'SomethingNew', code: 409 }).code).toBe('Conflict');
  });

  it('given a list that expired between two pages, where it may go on all the same', () => {
    const body = { reason: 'Expired', code: 410, metadata: { continue: 'bmV4dA' } };
    expect(faultOf(410, body).details.continue).toBe('bmV4dA');
    expect(faultOf(410, { ...body, metadata: { continue: '' } }).details).not.toHaveProperty('continue');
  });

  it('given a 404 in plain text, the kind is not served', () => {
    const fault = faultOf(404, '404 page not found\n');
    expect(fault.code).toBe('KindNotServed');
    expect(fault.message).toBe(
      'cannot patch deployments.apps "web" in namespace "shop": https://api does not serve Deployment (deployments.apps, version v1); install its CRD, or check group and version',
    );
  });
});

describe('the message of a fault names the object and the remedy', () => {
  it('given a missing permission, who lacks what, and the rule to grant', () => {
    const message =
      'deployments.apps "web" is forbidden: User "system:serviceaccount:ops:op" cannot patch resource "deployments" in API group "apps" in the namespace "shop"';
    expect(faultOf(403, { reason: 'Forbidden', message }).message).toBe(
      'cannot patch deployments.apps "web" in namespace "shop": user "system:serviceaccount:ops:op" lacks the permission; grant it by a Role in namespace "shop": apiGroups ["apps"], resources ["deployments"], verbs ["patch"]',
    );
    const clusterWide =
      'nodes is forbidden: User "u" cannot list resource "nodes" in API group "" at the cluster scope: RBAC: role "x" not found';
    expect(faultOf(403, { reason: 'Forbidden', message: clusterWide }).message).toContain(
      'grant it by a ClusterRole: apiGroups [""], resources ["nodes"], verbs ["list"] (RBAC: role "x" not found)',
    );
    const path = 'forbidden: User "u" cannot get path "/metrics"';
    expect(faultOf(403, { reason: 'Forbidden', message: path }).message).toContain(
      'nonResourceURLs ["/metrics"], verbs ["get"]',
    );
  });

  it('given a quota, the words of the server', () => {
    const message = 'pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2';
    expect(faultOf(403, { reason: 'Forbidden', message }).message).toContain('exceeded quota: q');
  });

  it('given a namespace that is being deleted or missing', () => {
    const causes = [
      { reason: 'NamespaceTerminating', message: 'namespace shop is being terminated', field: 'metadata.namespace' },
    ];
    expect(faultOf(403, { reason: 'Forbidden', message: 'x', details: { causes } }).message).toContain(
      'namespace "shop" is being deleted',
    );
    const details = { name: 'shop', kind: 'namespaces' };
    expect(faultOf(404, { reason: 'NotFound', details }).message).toContain(
      'namespace "shop" does not exist; create it first',
    );
    expect(faultOf(404, { reason: 'NotFound', details: { name: 'web', kind: 'deployments' } }).message).toContain(
      'it does not exist',
    );
  });

  it('given an apply conflict, who owns which field', () => {
    const causes = [
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "kubectl-client-side-apply" using apps/v1',
        field: '.spec.replicas',
      },
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "helm" with subresource "x" using apps/v1 at 2024',
        field: '.spec.paused',
      },
    ];
    const fault = faultOf(409, { reason: 'Conflict', message: 'Apply failed with 2 conflicts', details: { causes } });
    expect(fault.code).toBe('ApplyConflict');
    expect(fault.details.conflicts).toEqual([
      { manager: 'kubectl-client-side-apply', field: '.spec.replicas' },
      { manager: 'helm', field: '.spec.paused' },
    ]);
    expect(fault.message).toContain(
      '.spec.replicas is owned by "kubectl-client-side-apply", .spec.paused is owned by "helm"; leave the field out',
    );
  });

  it('given an invalid object, only what is wrong with it', () => {
    const message =
      'Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0';
    expect(faultOf(422, { reason: 'Invalid', message }).message).toBe(
      'cannot patch deployments.apps "web" in namespace "shop": spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    );
  });

  it('given an endless page of a proxy, its beginning', () => {
    expect(faultOf(502, `<html>${'x'.repeat(5_000)}`).message.length).toBeLessThan(800);
  });

  it('given retryAfterSeconds in the Status, it is kept', () => {
    expect(faultOf(500, { reason: 'ServerTimeout', details: { retryAfterSeconds: 2 } }).details.retryAfterMs).toBe(
      2_000,
    );
  });
});
