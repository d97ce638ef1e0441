/**
 * The ConversionReview protocol (apiextensions.k8s.io/v1) as a pure function: all objects of a request are converted, in
 * order, or none. What cannot be converted is named, because the API server shows the message to whoever asked for a list.
 */
import { apiVersionOf, convertInstance, formatProblems, type KubeObject, type Resource } from '@keelson/schema';
import { isMap } from '../plan/value.ts';
import type { Answer } from './answer.ts';
import { badRequest, message } from './answer.ts';

/** Answers one ConversionReview for a resource. */
export function answerConversion(resource: Resource, body: unknown): Answer {
  if (!isMap(body) || body.kind !== 'ConversionReview' || body.apiVersion !== 'apiextensions.k8s.io/v1') {
    return badRequest('the body must be a ConversionReview of apiextensions.k8s.io/v1');
  }
  const request = body.request;
  if (!isMap(request)) return badRequest('the ConversionReview has no request');
  const { uid, desiredAPIVersion, objects } = request;
  if (typeof uid !== 'string' || uid === '') return badRequest('request.uid is missing');
  if (typeof desiredAPIVersion !== 'string') return badRequest('request.desiredAPIVersion is missing');
  if (!Array.isArray(objects)) return badRequest('request.objects must be a list');

  const converted: KubeObject[] = [];
  for (const object of objects) {
    try {
      const result = convertInstance(resource, object, desiredAPIVersion);
      if (!result.ok) return failed(uid, `${nameOf(object)} cannot be converted: ${formatProblems(result.problems)}`);
      converted.push(result.object);
    } catch (error) {
      const text = `converting ${nameOf(object)} from ${isMap(object) ? object.apiVersion : '?'} to ${desiredAPIVersion} by way of ${apiVersionOf(resource)} failed: ${message(error)}`;
      return { ...failed(uid, text), threw: error };
    }
  }
  return review({ uid, result: { status: 'Success' }, convertedObjects: converted });
}

function failed(uid: string, text: string): Answer {
  return review({ uid, result: { status: 'Failure', message: text }, convertedObjects: [] });
}

function review(response: unknown): Answer {
  return { code: 200, body: { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response } };
}

function nameOf(object: unknown): string {
  if (!isMap(object) || !isMap(object.metadata)) return 'an object without metadata';
  const { name, namespace } = object.metadata;
  return [object.kind, namespace === undefined ? name : `${namespace}/${name}`].join(' ');
}
