// Compares a catalog with the truth file of a generated library: node bench/truth.ts --truth FILE
// --library DIR --data DIR [--observed FILE.ndjson]. Without --observed it scans the library.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { print, stackroom } from './kit/stackroom.ts'

type Truth = {
  path: string
  container: string
  bytes: number
  sha256: string
  pages: number | null
  folderSeries: string
  number: string
  expect: string
  corrupt: string | null
  comicInfo: {
    series: string
    number: string
    title: string
    year: number
    language: string
  } | null
  epub: { title: string; series: string | null; index: string | null; creator: string } | null
  pdf: { title: string; author: string } | null
}
type Seen = {
  path: string
  id: string
  outcome: string
  error: { code: string } | null
  pages: number | null
  title: string
  series: string
  number: string | null
  bytes: number
  sha256: string | null
}

const { values } = parseArgs({
  options: {
    truth: { type: 'string' },
    library: { type: 'string' },
    data: { type: 'string' },
    observed: { type: 'string' },
    show: { type: 'string', default: '10' },
  },
})

const seen = new Map<string, Seen>()
/** Seconds at which each thousand of books was stored. */
const arrivals: number[] = []
let stored = 0
const take = (record: Seen) => {
  if (record.outcome !== 'hashed' && ++stored % 1000 === 0) arrivals.push(performance.now() / 1000)
  const before = seen.get(record.path)
  seen.set(record.path, before ? { ...before, sha256: record.sha256 } : record)
}
if (values.observed) {
  for await (const line of createInterface({ input: createReadStream(values.observed) }))
    take(JSON.parse(line))
} else {
  const args = ['scan', values.library!, '--data', values.data!, '--ndjson']
  await stackroom(args, record => take(record))
}

const wrong = new Map<string, string[]>()
const blame = (what: string, detail: string) =>
  wrong.set(what, [...(wrong.get(what) ?? []), detail])
const tenth = Math.floor(arrivals.length / 10)
if (tenth > 0) {
  const first = arrivals[tenth]! - arrivals[0]!
  const last = arrivals.at(-1)! - arrivals.at(-1 - tenth)!
  print({ firstTenthSeconds: first, lastTenthSeconds: last, lastToFirst: last / first })
}
const byHash = new Map<string, number>()
let rows = 0
for await (const line of createInterface({ input: createReadStream(values.truth!) })) {
  const t: Truth = JSON.parse(line)
  rows++
  byHash.set(t.sha256, (byHash.get(t.sha256) ?? 0) + 1)
  const s = seen.get(t.path)
  if (!s) {
    blame('absent', t.path)
    continue
  }
  seen.delete(t.path)
  if (s.bytes !== t.bytes) blame('bytes', t.path)
  if (s.sha256 !== t.sha256) blame('sha256', t.path)
  if (t.expect === 'error' && !s.error) blame('should fail', t.path)
  if (t.expect !== 'error' && t.expect.startsWith('ok') && !t.expect.includes('error') && s.error)
    blame(`failed ${s.error.code}`, t.path)
  if (t.expect !== 'ok' && t.expect !== 'ok-by-content') continue
  if (t.container !== 'epub' && s.pages !== t.pages)
    blame('pages', `${t.path}: ${s.pages} for ${t.pages}`)
  // The truth does not say which of the misnamed files hold a ComicInfo.xml.
  if (t.expect !== 'ok') continue
  const series = t.comicInfo?.series ?? t.epub?.series ?? t.folderSeries
  if (s.series !== series) blame('series', `${t.path}: ${s.series} for ${series}`)
  const number = t.comicInfo?.number ?? t.epub?.index ?? t.number
  if (Number(s.number) !== Number(number)) blame('number', `${t.path}: ${s.number} for ${number}`)
  const title = t.comicInfo?.title ?? t.epub?.title ?? t.pdf?.title
  if (title && s.title !== title) blame('title', `${t.path}: ${s.title} for ${title}`)
}
for (const path of seen.keys()) blame('not in truth', path)
for (const [what, details] of wrong) {
  print({ wrong: what, books: details.length, examples: details.slice(0, Number(values.show)) })
}
print({
  rows,
  wrong: [...wrong.values()].reduce((sum, d) => sum + d.length, 0),
  duplicateGroups: [...byHash.values()].filter(n => n > 1).length,
})
