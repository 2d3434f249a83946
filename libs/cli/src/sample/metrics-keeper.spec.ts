import { sumOf } from './metrics-keeper';

const text = `# HELP a_total x
# TYPE a_total counter
a_total{reason="x",model="m"} 2
a_total{reason="y",model="m"} 3
a_total_more{reason="x"} 100
b 7
`;

describe('sumOf', () => {
  it.each([
    ['a_total', {}, 5],
    ['a_total', { reason: 'x' }, 2],
    ['a_total', { reason: 'x', model: 'm' }, 2],
    ['a_total', { reason: 'z' }, 0],
    ['b', {}, 7],
  ])('of %s %j is %d', (name, labels, sum) => expect(sumOf(text, name, labels)).toBe(sum));
});
