// Test tables of the strategies: the table of this project, and the shared one where it exists.
import { readFileSync } from 'node:fs'
import { goldenFile } from '../../kit/files/corpus.ts'
import { leaveOut, sharedPath } from '../../kit/shared.ts'

/** A row of test/golden/strategies.tsv: `expected` contains the properties of the result that matter. */
export type GoldenCase = {
  strategy: string
  config: object
  path: string
  facts: object
  expected: Record<string, unknown>
}

export function goldenCases(kind: 'series' | 'book' | 'number'): GoldenCase[] {
  const lines = goldenFile('strategies.tsv').toString().trimEnd().split('\n').slice(1)
  return lines.flatMap(line => {
    const [rule = '', config = '', path = '', facts = '', expected = ''] = line.split('\t')
    if (!rule.startsWith(`${kind}:`)) return []
    return {
      strategy: rule.slice(kind.length + 1),
      config: JSON.parse(config),
      path,
      facts: JSON.parse(facts),
      expected: JSON.parse(expected),
    }
  })
}

const shared = 'spec/filename-cases.tsv'
/** Rows of the shared table: how many checks are left out without it. */
const sharedCounts: Record<string, number> = {
  'book:filename': 38,
  'book:metadata_first': 4,
  'book:smart': 11,
  'book:series_name': 7,
  'book:custom': 24,
  'number:filename': 29,
  'number:metadata': 3,
  'number:smart': 4,
  'series:series_volume': 16,
  'series:flat': 10,
  'series:flat/number': 5,
  'series:publisher_hierarchy': 6,
  'series:calibre': 11,
  'series:custom': 6,
  'series:custom/number': 3,
  preprocess: 14,
}

/** A row of the shared table. */
export type Case = {
  filename: string
  /** Without arguments, e.g. `book:smart`. */
  strategy: string
  /** Text in parentheses after the strategy. */
  args: string
  series: string
  volume: string
  chapter: string
  title: string
  number: string
}

export function sharedCases(prefix: string): Case[] {
  const path = sharedPath(shared)
  if (path === null) {
    leaveOut(shared, sharedCounts[prefix])
    return []
  }
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n').slice(1)
  return lines
    .map(readRow)
    .filter(
      ({ strategy }) =>
        strategy === prefix ||
        strategy.startsWith(`${prefix}/`) ||
        strategy.startsWith(`${prefix}:`),
    )
}

function readRow(line: string): Case {
  const cells = line.split('\t')
  const [filename = '', rule = '', series = '', volume = '', chapter = '', , title = ''] = cells
  const open = rule.indexOf('(')
  const hasArgs = open > 0 && !rule.startsWith('preprocess')
  const strategy = hasArgs ? rule.slice(0, open) : rule
  const args = hasArgs ? rule.slice(open + 1) : ''
  return { filename, strategy, args, series, volume, chapter, title, number: cells[7] ?? '' }
}

/** `pattern=…; template=…` as an object. */
export function argsOf(args: string): Record<string, string> {
  const pairs = args.split('; ').map(pair => /^(?:custom )?([\w ]+?)[= ](.*)$/.exec(pair))
  return Object.fromEntries(pairs.flatMap(pair => (pair ? [[pair[1]!.trim(), pair[2]!]] : [])))
}
