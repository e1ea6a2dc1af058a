// Titles of releases: spans of volumes and chapters, names, groups, hints; and file names read as such titles.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { sortNumber } from '../../../lib/media/name/number.ts'
import { type NumberSpan, parseReleaseTitle } from '../../../lib/media/name/release-title.ts'
import { createRandom } from '../../kit/random.ts'
import { leaveOut, sharedPath } from '../../kit/shared.ts'

const own = (name: string) => join(import.meta.dirname, name)

t.test('titles of every kind', t => {
  for (const { title = '', series = '', volumes, chapters, also = '' } of rowsOf(
    own('release-titles.tsv'),
  )) {
    const read = parseReleaseTitle(title)
    t.same(
      [read.titles[0] ?? '', textOf(read.volumes), textOf(read.chapters)],
      [series, volumes, chapters],
      title,
    )
    const further: Record<string, string | null | undefined> = {
      group: read.group,
      hints: Object.keys(read.hints).sort().join(),
      language: read.language,
      second: read.titles[1],
    }
    for (const pair of also.split(';').filter(Boolean)) {
      const [name = '', value] = pair.split('=')
      t.equal(further[name], value, `${title}: ${name}`)
    }
  }
  t.end()
})

t.test('the spans of file names', t => {
  const rows = rowsOf(own('conventions.tsv')).map(({ input, volume, number }) => ({
    input: input!,
    volumes: volume!,
    chapters: number!,
    isComplete: true,
  }))
  assertRight(t, rows)
  t.ok(rows.length >= 600)
  const table = sharedPath('corpus/filename-tables/unified.tsv')
  if (table === null) leaveOut('corpus/filename-tables/unified.tsv')
  else assertRight(t, peerRows(table))
  t.end()
})

t.test('any text is read in bounded time', t => {
  const random = createRandom(5)
  const parts = [
    'v01',
    '-',
    ' ',
    ',',
    '+',
    '001',
    '999',
    '[',
    ']',
    '(',
    ')',
    ' / ',
    'as',
    'c',
    '第',
    '½',
    'x',
    '.',
    '\0',
  ]
  for (let i = 0; i < 3_000; i++) {
    const title = Array.from({ length: random.below(60) }, () => random.pick(parts)).join('')
    const { volumes, chapters } = parseReleaseTitle(title)
    for (const { start, end } of [...(volumes ?? []), ...(chapters ?? [])])
      t.ok(start <= end && Number.isFinite(start) && Number.isFinite(end), JSON.stringify(title))
  }
  parseReleaseTitle('001,'.repeat(100_000))
  t.end()
})

type Row = { input: string; volumes: string; chapters: string; isComplete: boolean }

/** At least 95 of 100 rows have both spans right; `*` states nothing, nor does an empty cell of incomplete rows. */
function assertRight(t: Test, rows: Row[]) {
  const misses = rows.flatMap(({ input, volumes, chapters, isComplete }) => {
    const read = parseReleaseTitle(input)
    const wrong = [
      [volumes, textOf(read.volumes)],
      [chapters, textOf(read.chapters)],
    ].filter(([stated = '', found]) => {
      const isStated = stated !== '*' && (isComplete || stated !== '')
      return isStated && normalized(stated) !== found
    })
    return wrong.map(([stated, found]) => `${input}: ${stated || 'none'}, read ${found || 'none'}`)
  })
  t.comment(`${rows.length - misses.length} of ${rows.length} right\n${misses.join('\n')}`)
  t.ok(misses.length <= 0.05 * rows.length, `${misses.length} of ${rows.length}`)
}

/** Peers' tables, but for their conventions (bench/filenames.ts): a volume that stands in for a number, volume 1 where there is none. */
function peerRows(path: string): Row[] {
  return rowsOf(path)
    .filter(({ input = '' }) => !input.includes('/'))
    .map(({ source = '', input = '', volume = '', number = '' }) => {
      const standsIn = /^(?:comictagger|comicfn2dict|codex)/.test(source)
      const isUnknown = source === 'kapowarr' && volume === '1'
      return {
        input,
        volumes: isUnknown ? '' : volume,
        chapters: standsIn && parseReleaseTitle(input).volumes !== null ? '' : number,
        isComplete: false,
      }
    })
    .filter(({ volumes, chapters }) => volumes !== '' || chapters !== '')
}

function rowsOf(path: string): Record<string, string>[] {
  const [head = [], ...rows] = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => line.split('\t'))
  return rows.map(cells => Object.fromEntries(head.map((name, i) => [name, cells[i] ?? ''])))
}

function textOf(spans: NumberSpan[] | null): string {
  return (spans ?? [])
    .map(({ start, end }) => (start === end ? `${start}` : `${start}-${end}`))
    .join(';')
}

/** `007` is 7, `1-6` and `01-06` are the same, `4.extra` is 4.99. */
function normalized(stated: string): string {
  if (stated === '(none)') return ''
  const [, first, last] = /^(\d[\d.]*)-(\d[\d.]*)$/.exec(stated) ?? []
  return first ? `${Number(first)}-${Number(last)}` : String(sortNumber(stated) ?? stated)
}
