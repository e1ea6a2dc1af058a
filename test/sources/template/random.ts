// Random templates and contexts, well-formed ones and arbitrary texts.
export type Random = () => number

export const pick = <T>(random: Random, values: readonly T[]): T =>
  values[Math.floor(random() * values.length)]!

const names = ['a', 'b', 'list', 'deep', 'missing', 'text', 'constructor', '__proto__']

/** Without null: Handlebars shows an empty object instead where it is the context of a block. */
export function randomValue(random: Random, depth = 0): unknown {
  const leaf = () => pick(random, ['', 'x', 'Ünï <&>', 'a b', 1, 2.5, true, '10'])
  if (depth > 2 || random() < 0.4) return leaf()
  if (random() < 0.5)
    return Array.from({ length: Math.floor(random() * 4) }, () => randomValue(random, depth + 1))
  const members = names.slice(0, 6).filter(() => random() < 0.6)
  return Object.fromEntries(members.map(name => [name, randomValue(random, depth + 1)]))
}

function randomPath(random: Random): string {
  const up = random() < 0.1 ? '../' : ''
  const head = pick(random, [
    ...names,
    'zero',
    'this',
    '@index',
    '@key',
    '@first',
    '@root.a',
    'item',
  ])
  const rest = random() < 0.4 ? `.${pick(random, names)}` : ''
  // In Handlebars a member of 0 and of false is the value itself.
  if (head === 'zero' || (head.startsWith('@') && head !== '@root.a')) return head
  return head.startsWith('@') || head === 'this' ? head + rest : up + head + rest
}

/** A template of values, blocks and texts, without the helpers that Handlebars lacks. */
export function randomTemplate(random: Random, depth = 0): string {
  const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
    const kind = random()
    if (kind < 0.3) return pick(random, [' text ', '\n', '-', '{{! comment }}', '\\{{a}}', ' '])
    if (kind < 0.6 || depth > 3)
      return random() < 0.2 ? `{{~${randomPath(random)}}}` : `{{${randomPath(random)}}}`
    const block = pick(random, ['if', 'unless', 'each', 'with'])
    const names = { each: [' as |item key|', ''], with: [' as |item|', ''] }[block] ?? ['']
    const inverse = random() < 0.5 ? `{{else}}${randomTemplate(random, depth + 1)}` : ''
    return `{{#${block} ${randomPath(random)}${pick(random, names)}}}${randomTemplate(random, depth + 1)}${inverse}{{/${block}}}`
  })
  return parts.join('')
}

const tokens = [
  ...[
    '{{',
    '}}',
    '{{{',
    '}}}',
    '{{#',
    '{{/',
    '{{^',
    '{{>',
    '{{*',
    '{{!--',
    '--}}',
    '{{&',
    '{{~',
    '~}}',
  ],
  ...[
    'if',
    'each',
    'with',
    'else',
    'this',
    '../',
    '.',
    '@index',
    '[',
    ']',
    '(',
    ')',
    '|',
    '=',
    '"',
    "'",
  ],
  ...[' ', '\\', '\n', '\0', '\ud800', '1e999', '-5', 'null', 'constructor', '__proto__', 'lookup'],
  ...['replace', 'padStart', 'split', 'join', 'math', 'truncate', 'default', 'length', 'urlencode'],
  ...['metadata.title', 'customMetadata', 'externalIds', 'genres', '"+"', 'and', 'or', 'includes'],
]

const calls = [
  '{{replace metadata.title "" "xxxxxxxxxx"}}',
  '{{#each metadata}}{{#each ../metadata}}{{#each ../../metadata}}{{this}}{{/each}}{{/each}}{{/each}}',
  '{{padStart metadata.title 1e9 "ab"}}',
  '{{math bookCount "/" 0}}',
  '{{math 1 "constructor" 2}}',
  '{{split metadata.title "" index=-1}}',
  '{{urlencode metadata.title}}',
  '{{join metadata.genres ", "}}',
  '{{lookup metadata "__proto__"}}',
  '{{metadata.constructor.constructor}}',
  '{{truncate metadata.summary 1e99 "…"}}',
  '{{default metadata.year (math 1 "+" bookCount)}}',
]

/** A text that is a template at best by chance, or a valid one with a piece changed. */
export function arbitraryTemplate(random: Random): string {
  if (random() < 0.3) return pick(random, calls) + (random() < 0.5 ? randomTemplate(random) : '')
  if (random() < 0.3) {
    const template = randomTemplate(random)
    const at = Math.floor(random() * template.length)
    return template.slice(0, at) + pick(random, tokens) + template.slice(at + 1)
  }
  const length = random() < 0.02 ? 600 : Math.floor(random() * 20)
  return Array.from({ length }, () => pick(random, tokens))
    .join('')
    .slice(0, 5_000)
}
