// The peer's facts about names, one line a fact; the specification lies beside the checkout.
import { existsSync, readFileSync } from 'node:fs'

const table = new URL('../../../shared/spec/filename-cases.tsv', import.meta.url)

export type Case = {
  filename: string
  /** Without arguments, e.g. `book:smart`. */
  strategy: string
  /** What stands in brackets after the strategy. */
  args: string
  series: string
  volume: string
  chapter: string
  title: string
  number: string
  note: string
}

export function casesOf(prefix: string): Case[] {
  if (!existsSync(table)) return []
  return readFileSync(table, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map(readLine)
    .filter(({ strategy }) =>
      [prefix, `${prefix}/`, `${prefix}:`].some((start, i) =>
        i === 0 ? strategy === start : strategy.startsWith(start),
      ),
    )
}

function readLine(line: string): Case {
  const cells = line.split('\t')
  const [
    filename = '',
    rule = '',
    series = '',
    volume = '',
    chapter = '',
    ,
    title = '',
    number = '',
  ] = cells
  const open = rule.indexOf('(')
  const isArgs = open > 0 && !rule.startsWith('preprocess')
  const strategy = isArgs ? rule.slice(0, open) : rule
  const args = isArgs ? rule.slice(open + 1) : ''
  return { filename, strategy, args, series, volume, chapter, title, number, note: cells[8] ?? '' }
}

/** `pattern=…; template=…` as an object. */
export function argsOf(args: string): Record<string, string> {
  const pairs = args.split('; ').map(pair => /^(?:custom )?([\w ]+?)[= ](.*)$/.exec(pair))
  return Object.fromEntries(pairs.flatMap(pair => (pair ? [[pair[1]!.trim(), pair[2]!]] : [])))
}
