import { readFileSync } from 'node:fs';
import path from 'node:path';
import { create } from '@bufbuild/protobuf';
import { deadletter, task, transcript } from '@nightshift/contracts';
import { Ajv2020 } from 'ajv/dist/2020';
import { present } from '../http/present';
import { docsPage } from './docs-page';
import { endpoints } from './endpoints';
import { openApi } from './openapi';
import { version } from '../version';

const document = openApi(endpoints, version) as unknown as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};
interface Operation {
  operationId: string;
  parameters?: Array<{ name: string; in: string; required: boolean }>;
  requestBody?: { required: boolean; content: Record<string, { schema: object }> };
  responses: Record<string, { content?: Record<string, unknown> }>;
}
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: 'api', components: document.components });
const schemaOf = (name: string) => ajv.compile({ $ref: `api#/components/schemas/${name}` });

describe('the OpenAPI document', () => {
  it('has every operation of the table once, with an answer for errors', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    expect(operations).toHaveLength(endpoints.length);
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(endpoints.length);
    for (const { operation } of operations) {
      expect(operation.responses.default?.content).toHaveProperty('application/problem+json');
    }
  });

  it('is the one in docs/openapi.json (npm run openapi:generate writes it)', () => {
    const committed: unknown = JSON.parse(readFileSync(path.resolve(__dirname, '../../../../docs/openapi.json'), 'utf8'));
    expect(committed).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('declares each parameter of a path', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      for (const operation of Object.values(methods)) {
        const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
        expect(declared.map((parameter) => parameter.name)).toEqual(named);
        expect(declared.every((parameter) => parameter.required)).toBe(true);
      }
    }
  });

  it('describes bodies as their checks see them', () => {
    const operation = document.paths['/v1/tasks']?.post;
    const check = ajv.compile(operation?.requestBody?.content['application/json']?.schema ?? {});
    expect(operation?.requestBody?.required).toBe(true);
    expect(check({ goal: 'x', models: ['a/b:c'] })).toBe(true);
    expect(check({ goal: 'x', extra: 1 })).toBe(false);
    expect(check({})).toBe(false);
  });

  it('refers only to what it holds', () => {
    const references = [...JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g)].map((match) => match[1]);
    for (const name of references) expect(document.components.schemas).toHaveProperty(name as string);
  });

  it.each([
    ['TaskTask', task.TaskSchema, { id: 't', state: task.TaskState.RUNNING, workspace: { path: '/w' }, createdAtMs: 4n }],
    [
      'TranscriptEntry',
      transcript.EntrySchema,
      { seq: 1, body: { case: 'note' as const, value: { kind: 'loop', text: 'stop' } } },
    ],
    ['DeadletterDeadLetter', deadletter.DeadLetterSchema, { body: new Uint8Array([1]), headers: { a: 'b' } }],
  ] as const)('describes %s as it is shown', (name, desc, init) => {
    const check = schemaOf(name);
    expect(check(present(desc, create(desc, init as never)))).toBe(true);
    expect(check({ id: 7 })).toBe(false);
  });
});

describe('the page', () => {
  it('names every operation', () => {
    const page = docsPage(endpoints);
    for (const endpoint of endpoints) expect(page).toContain(`${endpoint.method} `);
    expect(page).toContain('/v1/tasks/{id}/cancel');
  });
});
