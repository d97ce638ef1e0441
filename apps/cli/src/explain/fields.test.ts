import { describe, expect, it } from 'vitest';
import { fieldsOf, type OpenApi, schemaAt } from './fields.ts';

const schema: OpenApi = {
  type: 'object',
  required: ['hosts', 'size'],
  properties: {
    size: { type: 'integer', default: 1, minimum: 1, maximum: 20 },
    hosts: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string', pattern: '^a+$', description: 'The host.' } } },
      'x-kubernetes-validations': [{ rule: 'size(self) > 0', message: 'at least one host' }],
    },
    pages: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 5 },
  },
};

describe('fieldsOf', () => {
  it('given lists, maps, defaults and limits, when walked, then each field is told in full, and a default makes it optional', () => {
    expect(fieldsOf(schema, '')).toEqual([
      { path: 'size', type: 'integer', required: false, default: 1, limits: ['1 … 20'], rules: [] },
      { path: 'hosts', type: '[]object', required: true, limits: [], rules: ['at least one host'] },
      {
        path: 'hosts[].name',
        type: 'string',
        required: false,
        description: 'The host.',
        limits: ['matches ^a+$'],
        rules: [],
      },
      { path: 'pages', type: 'map[string]string', required: false, limits: ['at most 5 entries'], rules: [] },
    ]);
  });
});

describe('schemaAt', () => {
  it('given a path through a list, when looked up, then the brackets need not be written', () => {
    expect(schemaAt(schema, ['hosts', 'name'])).toMatchObject({ path: 'hosts[].name', found: { type: 'string' } });
  });

  it('given a path that does not exist, when looked up, then the known names at that place are told', () => {
    expect(schemaAt(schema, ['hosts', 'nam'])).toEqual({ missing: 'nam', under: 'hosts', known: ['name'] });
  });
});
