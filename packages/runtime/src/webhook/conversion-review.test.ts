import { defineResource, defineVersion, Type } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { answerConversion } from './conversion-review.ts';

const v1 = defineVersion({
  name: 'v1',
  storage: true,
  spec: Type.Object({ size: Type.Object({ min: Type.Integer(), max: Type.Integer() }) }),
});
const v1alpha1 = defineVersion({
  name: 'v1alpha1',
  spec: Type.Object({ replicas: Type.Integer() }),
  storedAs: v1,
  convert: {
    toStorage: ({ spec }) => {
      if (spec.replicas < 0) throw new Error('replicas is negative');
      return { spec: { size: { min: spec.replicas, max: spec.replicas } } };
    },
    fromStorage: ({ spec }) => ({ spec: { replicas: spec.size.max } }),
  },
});
const Pool = defineResource({
  group: 'example.io',
  kind: 'Pool',
  scope: 'Namespaced',
  description: 'A pool',
  versions: [v1, v1alpha1],
});

const pool = (version: string, spec: unknown, name = 'a') => ({
  apiVersion: `example.io/${version}`,
  kind: 'Pool',
  metadata: { name, namespace: 'x', uid: 'u', labels: { a: 'b' } },
  spec,
});
const review = (request: unknown) => ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request });

describe('answerConversion', () => {
  it('converts every object, in order, both ways, and keeps the metadata', () => {
    const up = answerConversion(
      Pool,
      review({
        uid: 'u',
        desiredAPIVersion: 'example.io/v1',
        objects: [pool('v1alpha1', { replicas: 2 }, 'a'), pool('v1alpha1', { replicas: 3 }, 'b')],
      }),
    );
    expect(up).toEqual({
      code: 200,
      body: {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'ConversionReview',
        response: {
          uid: 'u',
          result: { status: 'Success' },
          convertedObjects: [
            pool('v1', { size: { min: 2, max: 2 } }, 'a'),
            pool('v1', { size: { min: 3, max: 3 } }, 'b'),
          ],
        },
      },
    });
    const down = answerConversion(
      Pool,
      review({
        uid: 'u',
        desiredAPIVersion: 'example.io/v1alpha1',
        objects: [pool('v1', { size: { min: 1, max: 4 } })],
      }),
    );
    expect(down.body).toMatchObject({ response: { convertedObjects: [pool('v1alpha1', { replicas: 4 })] } });
  });

  it('names the object that cannot be converted, and converts none', () => {
    const answer = answerConversion(
      Pool,
      review({
        uid: 'u',
        desiredAPIVersion: 'example.io/v1',
        objects: [pool('v1alpha1', { replicas: 2 }), pool('v1alpha1', { replicas: -1 }, 'bad')],
      }),
    );
    expect(answer.body).toMatchObject({
      response: {
        result: {
          status: 'Failure',
          message:
            'converting Pool x/bad from example.io/v1alpha1 to example.io/v1 by way of example.io/v1 failed: replicas is negative',
        },
        convertedObjects: [],
      },
    });
    expect(answer.threw).toBeInstanceOf(Error);
  });

  it.each([
    [
      'a version that the resource does not have',
      { desiredAPIVersion: 'example.io/v2', objects: [pool('v1', {})] },
      /Pool x\/a cannot be converted: .*example.io\/v2/,
    ],
    [
      'an object of another kind',
      { desiredAPIVersion: 'example.io/v1', objects: [{ ...pool('v1', {}), kind: 'Other' }] },
      /Other x\/a cannot be converted: kind: must be Pool/,
    ],
    [
      'something that is no object',
      { desiredAPIVersion: 'example.io/v1', objects: [7] },
      /an object without metadata cannot be converted/,
    ],
  ])('fails on %s with a message', (_, request, text) => {
    expect(answerConversion(Pool, review({ uid: 'u', ...request })).body).toMatchObject({
      response: { result: { status: 'Failure', message: expect.stringMatching(text) } },
    });
  });

  it.each([
    ['no review', {}, /must be a ConversionReview/],
    ['no request', review(null), /has no request/],
    ['no uid', review({ desiredAPIVersion: 'v1', objects: [] }), /uid/],
    ['no version', review({ uid: 'u', objects: [] }), /desiredAPIVersion/],
    ['no objects', review({ uid: 'u', desiredAPIVersion: 'v1' }), /objects must be a list/],
  ])('refuses %s as a bad request', (_, body, text) => {
    expect(answerConversion(Pool, body)).toMatchObject({ code: 400, body: { message: expect.stringMatching(text) } });
  });
});
