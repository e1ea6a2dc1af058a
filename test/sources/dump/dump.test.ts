// Dumps as sources: plain and compressed files, search by title, changed files, hostile lines, folders.
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { test } from 'tap'
import type { TypedRow } from '../../../lib/sources/open.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'
import { failing } from '../failing.ts'
import { openTestSources } from '../sources.ts'

const call = { signal: new AbortController().signal }
const rowOf = (path: string): TypedRow => ({
  id: 'dump-1',
  type: 'dump',
  name: 'dump',
  displayName: 'Dump',
  config: {
    path,
    search: { externalId: '$.id', title: '$.title', alternateTitles: '$.also[*]', year: '$.year' },
    series: { metadata: { title: '$.title', year: '$.year' } },
  },
  credentials: {},
  description: null,
})

const titles = ['Blue Box', 'Blue Period', 'Ashita no Joe', 'Émile & Co.', '進撃の巨人', 'Box']
const works = Array.from({ length: 3_000 }, (_, i) => ({
  id: `w${i}`,
  title: titles[i] ?? `Work ${i}`,
  also: i === 0 ? ['Ao no Hako'] : [],
  year: 1900 + (i % 120),
}))
const lines = works.map(work => JSON.stringify(work)).join('\n')

test('series are found in plain and compressed dumps', async t => {
  const folder = temporaryFolder(t)
  const files = { 'a.jsonl': lines, 'b.jsonl.gz': gzipSync(lines) }
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    writeFileSync(path, content)
    const sources = openTestSources(t)
    const row = rowOf(path)
    sources.checkConfig(row)
    const source = sources.open(row)
    t.match(await source.describe(call), { capabilities: ['metadata'], releaseSources: [] })
    const found = async (query: string) =>
      (await source.searchSeries!({ query, limit: 5 }, call)).map(hit => hit.externalId)
    t.equal((await found('blue BOX'))[0], 'w0')
    t.equal((await found('Ao no hako'))[0], 'w0', 'by another title')
    t.equal((await found('emile and co'))[0], 'w3')
    t.equal((await found('進撃の巨人'))[0], 'w4')
    t.equal((await found('Blue Boxes'))[0], 'w0', 'a similar title')
    t.same(await found('"; drop table entry --'), [])
    t.same(await found('*'), [])
    const [hit] = await source.searchSeries!({ query: 'Blue Box', limit: 1 }, call)
    t.match(hit, { relevance: 1, year: 1900, alternateTitles: ['Ao no Hako'] })
    t.match(await source.fetchSeries!('w2999', call), {
      externalId: 'w2999',
      metadata: { title: 'Work 2999', year: 2019 },
    })
    t.equal(await source.fetchSeries!('absent', call), null)
  }
})

test('a changed dump is read again, and lines that are no documents are left out', async t => {
  const path = join(temporaryFolder(t), 'dump.ndjson')
  writeFileSync(path, '{"id":"1","title":"First"}\n')
  const sources = openTestSources(t)
  const source = sources.open(rowOf(path))
  t.equal((await source.fetchSeries!('1', call))!.metadata.title, 'First')
  const hostile = [
    'not json',
    '{"id":"2"}',
    '[]',
    'null',
    `{"id":"3","title":"${'x'.repeat(5_000_000)}"}`,
    '['.repeat(100_000),
    '{"id":"1","title":"Twice"}',
    '{"id":"1","title":"Again"}',
    '{"id":"4","title":"Last"}',
  ]
  writeFileSync(path, hostile.join('\n'))
  utimesSync(path, 1, 1)
  t.equal((await source.fetchSeries!('1', call))!.metadata.title, 'Twice')
  t.equal((await source.fetchSeries!('4', call))!.metadata.title, 'Last')
  for (const id of ['2', '3']) t.equal(await source.fetchSeries!(id, call), null)
  const stop = AbortSignal.abort(new Error('stopped'))
  await t.rejects(source.fetchSeries!('1', { signal: stop }), { message: 'stopped' })
})

test('only files in permitted folders are read', async t => {
  const folder = temporaryFolder(t)
  const [inside, outside, data] = ['inside', 'outside', 'data'].map(name => join(folder, name))
  for (const one of [inside, outside, data]) {
    mkdirSync(one!)
    writeFileSync(join(one!, 'dump.jsonl'), lines)
  }
  symlinkSync(join(outside!, 'dump.jsonl'), join(inside!, 'link.jsonl'))
  let roots = [inside!]
  const sources = openTestSources(t, { dumps: { roots: () => roots, dataDir: data! } })
  sources.checkConfig(rowOf(join(inside!, 'dump.jsonl')))
  const refused = ['outside/dump.jsonl', 'inside/../outside/dump.jsonl', 'inside/link.jsonl']
  for (const path of [...refused, 'data/dump.jsonl', 'inside/absent.jsonl', 'inside'])
    t.throws(() => sources.checkConfig(rowOf(join(folder, path))), { name: 'Invalid' }, path)
  t.throws(() => sources.checkConfig(rowOf('dump.jsonl')), { name: 'Invalid' }, 'relative')
  t.throws(() => sources.checkConfig(rowOf('/etc/passwd')), { name: 'Invalid' })
  roots = []
  for (const path of ['inside/dump.jsonl', 'outside/dump.jsonl', 'data/dump.jsonl'])
    t.throws(() => sources.checkConfig(rowOf(join(folder, path))), { name: 'Invalid' }, path)
  roots = [inside!]
  const removed = sources.open(rowOf(join(outside!, 'dump.jsonl')))
  await t.rejects(removed.describe(call), failing({ kind: 'unreachable' }))
})
