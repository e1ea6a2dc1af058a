// Values for which operators take longest: long texts, lists and objects that differ at the end, or not at all.
const differing = (value: (last: number) => unknown) => [value(1), value(2)]

const members = (last: number) =>
  Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, i === 4_999 ? last : 'x']))

export const worstValues: readonly unknown[] = [
  ...differing(last => `${'1'.repeat(60_000)}${last}`),
  ...differing(last => `0.${'1'.repeat(990)}${last}`),
  'a'.repeat(60_000),
  `b${'a'.repeat(30_000)}`,
  'ab cd '.repeat(10_000),
  ...differing(last => [...Array(20_000).fill('xyz'), last]),
  ...differing(last => Array(900).fill({ a: 'x', b: ['y', last] })),
  ...differing(members),
  ...differing(last => Array.from({ length: 60 }, () => `${'x'.repeat(1_000)}${last}`)),
]
