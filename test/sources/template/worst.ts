// Templates that cost as much as possible: each helper with values of all kinds, repeated in loops.
import { blockHelpers, predicates, valueHelpers } from '../../../lib/sources/template/helpers.ts'
import { maxTemplateLength } from '../../../lib/sources/template/syntax.ts'

const members = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]))

/** About as much as a request may hold. */
export const worstContext = {
  digits: '1'.repeat(900_000),
  other: `${'1'.repeat(899_999)}2`,
  decimals: `0.${'1'.repeat(997)}`,
  same: 'a'.repeat(10_000),
  part: `b${'a'.repeat(5_000)}`,
  wide: 'ŉ'.repeat(10_000),
  emoji: '😀'.repeat(5_000),
  spaces: ' '.repeat(10_000),
  object: members(4_000),
  list: Array.from({ length: 4_000 }, (_, i) => `${i}`),
  nested: [Array.from({ length: 100 }, () => Array(20).fill('x'))],
  a: Array(200).fill(0),
}

const values = [
  ...['digits', 'other', 'decimals', 'same', 'part', 'wide', 'emoji', 'spaces'],
  ...['object', 'list', 'nested', 'a'],
].map(name => `@root.${name}`)
const operands = [...values, '""', '"a"', '10000', '1']

/** Each value once as the first argument, with one after another as the second, and the slowest search. */
const callsOf = (helper: string): string[] =>
  [
    ...values.map((first, i) => [first, operands[(i * 5 + helper.length) % operands.length]!]),
    ['@root.digits', '@root.other'],
    ['@root.same', '@root.part'],
  ].map(([first, second]) =>
    [helper, first, ...(helper === 'math' ? ['"*"'] : []), second].join(' '),
  )

/** As often as it fits, in two loops. */
const inLoops = (piece: string, scopes = 0): string => {
  const start = `${'{{#with @root as |x|}}'.repeat(scopes)}{{#each @root.a}}{{#each @root.a}}`
  const end = `{{/each}}{{/each}}${'{{/with}}'.repeat(scopes)}`
  const times = Math.floor((maxTemplateLength - start.length - end.length) / piece.length)
  return start + piece.repeat(times) + end
}

const expressions = [...valueHelpers.keys(), ...predicates.keys()].map(
  helper => [helper, callsOf(helper).map(call => inLoops(`{{#if (${call})}}{{/if}}`))] as const,
)
const blocks = [...blockHelpers, ...predicates.keys()].map(
  helper =>
    [
      `#${helper}`,
      // As expressions with every value.
      callsOf(helper)
        .slice(-5)
        .map(call => {
          const words = call.split(' ').slice(0, blockHelpers.has(helper) ? 2 : 3)
          return inLoops(`{{#${words.join(' ')}}}{{/${helper}}}`)
        }),
    ] as const,
)
const paths: [string, string[]][] = [
  ['deep scopes', [inLoops('{{#if y}}{{/if}}', 40), inLoops('{{#if @y}}{{/if}}', 40)]],
  ['paths', [inLoops('{{#if @root.object.k3999}}{{/if}}'), inLoops('{{#if ../../a.b}}{{/if}}')]],
  ['values', values.map(value => inLoops(`{{#if (length ${value})}}{{/if}}`))],
  ['texts', [inLoops('x'), inLoops('{{this}}'), inLoops('{{! }}'), inLoops('{{""}}')]],
]

/** Templates by what they use. */
export const worstTemplates: ReadonlyMap<string, readonly string[]> = new Map([
  ...expressions,
  ...blocks,
  ...paths,
])
