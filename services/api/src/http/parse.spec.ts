import { isNightshiftError } from '@nightshift/contracts';
import { z } from 'zod';
import { parseRequest } from './parse';

const schemas = {
  params: z.strictObject({ id: z.uuid() }),
  query: z.strictObject({ limit: z.coerce.number().int().max(100).optional() }),
  body: z.strictObject({ goal: z.string().min(1), criteria: z.array(z.string()) }),
};

describe('parseRequest', () => {
  it('returns every part in its own type', () => {
    const id = '01890a5d-ac96-774b-bcce-b302099a8057';
    const parsed = parseRequest(schemas, { params: { id }, query: { limit: '5' }, body: { goal: 'g', criteria: [] } });
    expect(parsed).toEqual({ params: { id }, query: { limit: 5 }, body: { goal: 'g', criteria: [] } });
  });

  it('reports the faults of path, query and body together', () => {
    let caught: unknown;
    try {
      parseRequest(schemas, { params: { id: 'x' }, query: { limit: 'many' }, body: { goal: 7, criteria: ['ok', 3], extra: 1 } });
    } catch (error) {
      caught = error;
    }
    expect(isNightshiftError(caught) && caught.faults).toEqual([
      expect.stringMatching(/^params\.id: /),
      expect.stringMatching(/^query\.limit: /),
      expect.stringMatching(/^goal: /),
      expect.stringMatching(/^criteria\.1: /),
      expect.stringMatching(/^body: .*extra/),
    ]);
  });

  it('reads an absent body as an empty one', () => {
    expect(() => parseRequest({ body: schemas.body }, { params: {}, query: {}, body: null })).toThrow(/2 faults/);
  });
});
