// Positions in an EPUB: a resource and the progression in it, and the page of the same number.
import t from 'tap'
import { createTestLibrary } from '../../kit/library.ts'
import { richEpub } from '../../kit/opds/epub.ts'
import { startApi } from '../../kit/server.ts'

const all = await startApi(t)
const library = await createTestLibrary(t, all, { 'Book/rich.epub': richEpub() })
await library.scan()
const { id, pages } = await library.book('rich.epub')
const path = `/opds/v2/books/${id}/progression`
const written = (locations: object | null, href: string) => ({
  modified: new Date().toISOString(),
  device: { id: 'phone', name: 'Phone' },
  locator: { href, type: 'application/xhtml+xml', ...(locations && { locations }) },
})

t.test('a position is a resource and the progression in it', async t => {
  const reader = await all.createUser('reader')
  const root = `${all.base}/opds/v2/books/${id}/resource/OPS/`
  const percentage = async () => (await reader.get(`/books/${id}/progress`)).body.progressPercentage
  // Three positions in the first, two in the second, one in the note.
  for (const [href, locations, expected] of [
    [`${root}Text/one%20%26%20two.xhtml`, { progression: 0.5 }, 0.25],
    [`${root}Text/%E6%97%A5%E6%9C%AC.xhtml#p7`, { progression: 0.5, totalProgression: 0.1 }, 4 / 6],
    ['OPS/Text/日本.xhtml', { progression: 0 }, 0.5],
    ['Text/one%20%26%20two.xhtml', { totalProgression: 0.25 }, 0.25],
    ['/Text/one & two.xhtml', null, 0],
    [`${root}nav.xhtml`, { progression: 0.9, totalProgression: 0.4 }, 0.4],
    [`${root}Text/note.xhtml`, { progression: 0.5 }, 5.5 / 6],
    [`${root}Text/note.xhtml`, { progression: 1 }, 1],
  ] as const) {
    t.equal((await reader.put(path, written(locations, href))).status, 204, href)
    const rounded = Math.round(expected * 1e6) / 1e6
    t.equal(await percentage(), rounded, `${href} ${JSON.stringify(locations)}`)
  }
  t.match((await reader.get(`/books/${id}/progress`)).body, { completed: true })
  for (const [href, locations] of [
    [`${root}nothing.xhtml`, { progression: 0.5 }],
    [`${root}nothing.xhtml`, { totalProgression: 0.5 }],
    [`${root}nav.xhtml`, { progression: 0.5 }],
    ['', { totalProgression: 0.5 }],
  ] as const)
    t.equal((await reader.put(path, written(locations, href))).status, 400, href)
  await reader.put(`/books/${id}/progress`, { progressPercentage: 0.7 })
  t.match((await reader.get(path)).body.locator, {
    href: `${root}Text/%E6%97%A5%E6%9C%AC.xhtml`,
    type: 'application/xhtml+xml',
    locations: { progression: 0.6, position: 5, totalProgression: 0.7 },
  })
})

t.test('each position is the page of its number', async t => {
  const reader = await all.createUser('reader')
  const { positions, total } = (await reader.get(`/opds/v2/books/${id}/positions`)).body
  t.same([pages, total], [6, 6], 'non-linear documents are pages and positions')
  const progress = async () => {
    const { body } = await reader.get(`/books/${id}/progress`)
    return [body.currentPage, body.completed]
  }
  for (const { href, locations } of positions) {
    const { position, progression, totalProgression } = locations
    for (const some of [
      locations,
      { progression },
      { totalProgression },
      { position },
      { position, progression: Math.round(progression * 100) / 100 },
      { position, totalProgression: Math.floor(totalProgression * 10) / 10 },
    ]) {
      t.equal((await reader.put(path, written(some, href))).status, 204)
      t.same(await progress(), [position, false], JSON.stringify(some))
    }
    await reader.put(`/books/${id}/progress`, { progressPercentage: totalProgression })
    t.same(await progress(), [position, false], `the share ${totalProgression}`)
    t.match((await reader.get(path)).body.locator, { href, locations: { position } })
  }
  const [{ href }] = positions
  await reader.put(path, written({ position: 5, progression: 0.5 }, href))
  t.same(await progress(), [2, false], 'a position outside the resource is one of other counting')
  await reader.put(path, written({ totalProgression: 1 }, href))
  t.same(await progress(), [6, true])
})
