// Rules of matching releases with tracked series, and of owned volumes and chapters.

import { test } from 'tap'
import { unrestrictedViewer } from '../../lib/accounts/viewer.ts'
import { newId } from '../../lib/base/id.ts'
import { aliasKey } from '../../lib/releases/aliases.ts'
import { matchSeries } from '../../lib/releases/match.ts'
import { isOwned, normalizedSpans, ownedOf } from '../../lib/releases/owned.ts'
import { createSimilarKeys, minSimilarity, similarity } from '../../lib/releases/similar.ts'
import { setTracked } from '../../lib/releases/tracking.ts'
import { insertAccount } from '../kit/accounts.ts'
import { openCatalog } from '../kit/catalog.ts'
import { comic, createTestLibrary } from '../kit/library.ts'
import { createRandom } from '../kit/random.ts'

const book = (volume: number | null, chapter: number | null, number: number | null = null) => ({
  ...{ volume, chapter, number },
})
const span = (start: number, end = start) => [{ start, end }]

test('keys of aliases', async t => {
  t.equal(aliasKey('  Spy×Family:\tPart-2! '), 'spyfamily part2')
  t.equal(aliasKey('進撃の巨人 (2)'), '進撃の巨人 2')
  t.equal(aliasKey('Café'), 'café', 'accents stay')
  t.equal(aliasKey('?!'), '')
  t.ok(aliasKey('😀a'.repeat(1_000)).isWellFormed())
})

test('similar keys are those with a high Dice coefficient, without comparing all', async t => {
  const random = createRandom(7)
  const words = ['dragon', 'saint', 'garden', 'world', 'princess', 'of', 'the', 'night', 'blue']
  const keys = Array.from({ length: 200 }, () =>
    Array.from({ length: 2 + random.below(5) }, () => random.pick(words)).join(' '),
  )
  const others = keys.map(key => {
    const cut = random.below(key.length)
    return `${key.slice(0, cut)}${key.slice(cut + 1 + random.below(2))}`
  })
  const compare = createSimilarKeys(keys)
  const found = new Set<string>()
  for (const other of new Set(others)) compare(other, key => found.add(`${key}|${other}`))
  const expected = new Set(
    [...new Set(keys)].flatMap(key =>
      [...new Set(others)]
        .filter(other => similarity(key, other) >= minSimilarity)
        .map(other => `${key}|${other}`),
    ),
  )
  t.ok(expected.size > 20, `${expected.size} pairs`)
  t.same([...found].sort(), [...expected].sort())
  const numbers: string[] = []
  createSimilarKeys(['the saint of the blue garden 2'])('the saint of the blue garden 3', key =>
    numbers.push(key),
  )
  t.same(numbers, [], 'another number is another series')
})

test('spans', async t => {
  t.same(
    normalizedSpans([
      { start: 6, end: 4 },
      { start: 1, end: 3 },
      { start: 9.5, end: 9.5 },
    ]),
    [
      { start: 1, end: 6 },
      { start: 9.5, end: 9.5 },
    ],
  )
  t.equal(normalizedSpans([{ start: Number.NaN, end: 1 }]), null)
  t.equal(normalizedSpans([]), null)
})

test('what is owned', async t => {
  const volumes = ownedOf([book(1, null), book(2, null), book(3, 20)])
  t.ok(isOwned(volumes, { volumes: span(1, 2), chapters: null }))
  t.notOk(isOwned(volumes, { volumes: span(2, 3), chapters: null }), 'a chapter of it')
  t.ok(isOwned(volumes, { volumes: span(3), chapters: span(20) }))
  t.notOk(isOwned(volumes, { volumes: span(4), chapters: span(20) }), 'of another volume')
  t.ok(isOwned(volumes, { volumes: null, chapters: span(20) }))
  t.notOk(isOwned(volumes, { volumes: null, chapters: null }), 'one that states nothing')
  t.notOk(isOwned(volumes, { volumes: span(1, 1e12), chapters: null }), 'an endless span')
  const endless = ownedOf([book(1, null)], { 1: { start: -1e300, end: 1e300 } })
  for (const chapters of [span(-1e300, 1e300), span(0, 1e15)])
    t.notOk(isOwned(endless, { volumes: null, chapters }), 'in volumes without an end, too')
  t.ok(isOwned(endless, { volumes: null, chapters: span(1e300) }))
  const numbers = ownedOf([book(null, null, 1), book(null, null, 2)])
  t.ok(isOwned(numbers, { volumes: span(2), chapters: null }), 'numbers, if nothing else is stated')
  t.ok(isOwned(numbers, { volumes: null, chapters: span(1, 2) }))
  t.notOk(isOwned(numbers, { volumes: null, chapters: span(1.5) }))
  const mapped = ownedOf([book(1, null)], { 1: { start: 1, end: 8 }, 2: { start: 9, end: 16 } })
  t.ok(isOwned(mapped, { volumes: null, chapters: span(3, 8) }), 'chapters of a volume')
  t.notOk(isOwned(mapped, { volumes: null, chapters: span(8, 9) }))
  t.notOk(isOwned(undefined, { volumes: span(1), chapters: null }))
})

test('matches in the catalog', async t => {
  const catalog = await openCatalog(t)
  const { sql } = catalog
  const library = await createTestLibrary(t, catalog, {
    'The Saint of the Blue Garden/1.cbz': comic(),
    'Night/1.cbz': comic(),
    'Other/1.cbz': comic(),
  })
  await library.scan()
  const rows = await sql<{ id: string; name: string }[]>`select id, name from series order by name`
  const idOf = (name: string) => rows.find(row => row.name === name)!.id
  const viewer = unrestrictedViewer((await insertAccount(sql, 'admin')).id)
  const ids = ['Night', 'The Saint of the Blue Garden'].map(idOf)
  await setTracked(sql, viewer, { seriesIds: ids, tracked: true })
  await sql`
    insert into external_reference (id, kind, series_id, source, external_id)
    values (${newId()}, 'id', ${idOf('Night')}, 'catalog', '77'),
      (${newId()}, 'id', ${idOf('Other')}, 'catalog', '78')`
  const match = (...seriesTitles: string[]) => matchSeries(sql, [{ seriesTitles, seriesIds: {} }])
  const byId = await matchSeries(sql, [
    { seriesTitles: ['Other'], seriesIds: { catalog: '77' } },
    { seriesTitles: [], seriesIds: { catalog: '78' } },
  ])
  t.match(byId, [
    { seriesId: idOf('Night'), confidence: 1, reason: { by: 'external_id', externalId: '77' } },
    null,
  ])
  t.match(await match('Nacht', 'NIGHT!'), [
    { seriesId: idOf('Night'), confidence: 0.95, reason: { by: 'alias', alias: 'Night' } },
  ])
  const [similar] = await match('Saint of the Blue Garden')
  t.match(similar, { reason: { by: 'similar_alias', alias: 'The Saint of the Blue Garden' } })
  t.ok(similar!.confidence >= 0.7 && similar!.confidence < 0.85, String(similar!.confidence))
  t.same(await match('Nightly'), [null])
  t.same(await match('Other'), [null], 'a series that is not tracked')
  await sql`update series_tracking set confidence_threshold_override = 0.9`
  t.same(await match('Saint of the Blue Garden'), [null], 'below the threshold of the series')
  t.match(await match('Night'), [{ confidence: 0.95 }])
  await sql`
    insert into series_alias (id, series_id, alias, alias_key)
    values (${newId()}, ${idOf('The Saint of the Blue Garden')}, 'Night', 'night')`
  const [ambiguous] = await match('Night')
  t.match(ambiguous, { seriesId: ids.toSorted()[0], reason: { others: 1 } })
})
