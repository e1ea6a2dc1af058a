// Preview of a new library: its series by file names, and the strategy that its folder is made for.
import t from 'tap'
import { folderWithFiles } from '../../../kit/files/folders.ts'
import { startApiWithoutPipeline } from '../../../kit/server.ts'

const all = await startApiWithoutPipeline(t)
const maintainer = await all.createUser('maintainer')

type Detected = { name: string; path: string; bookCount: number; sampleBooks: string[] }

t.test('a preview lists the series of a folder without storing them', async t => {
  const path = folderWithFiles(t, {
    ...Object.fromEntries(
      Array.from({ length: 7 }, (_, i) => [`Pub/Akira/${i}.cbz`, Buffer.from('')]),
    ),
    'Pub/Zot/1.pdf': Buffer.from(''),
    'Pub/Zot/notes.txt': Buffer.from(''),
    'Pub/.hidden/1.cbz': Buffer.from(''),
    'Pub/Extras/1.cbz': Buffer.from(''),
  })
  const [before] = await all.sql`select count(*) as n from library`
  const preview = (more: object) => maintainer.post('/libraries/preview-scan', { path, ...more })
  const { status, body } = await preview({ excludedPatterns: 'Extras/' })
  t.equal(status, 200)
  t.same(
    body.detectedSeries.map((s: Detected) => [s.name, s.path, s.bookCount, s.sampleBooks.length]),
    [
      ['Akira', 'Pub/Akira', 7, 5],
      ['Zot', 'Pub/Zot', 1, 1],
    ],
  )
  t.match(body, { totalFiles: 8, totalSeries: 2, isComplete: true })
  const publishers = await preview({
    series_strategy: 'publisher_hierarchy',
    allowedFormats: ['PDF'],
  })
  t.match(publishers.body.detectedSeries, [{ name: 'Zot', metadata: { publisher: 'Pub' } }])
  t.equal((await preview({ seriesStrategy: 'custom', seriesConfig: { pattern: '(' } })).status, 400)
  t.equal((await preview({ path: `${path}/none` })).status, 400)
  t.same((await all.sql`select count(*) as n from library`)[0], before)
})

t.test('a preview proposes the strategy that a folder is made for', async t => {
  const suggestionFor = async (paths: string[], seriesStrategy = 'series_volume') => {
    const path = folderWithFiles(t, Object.fromEntries(paths.map(p => [p, Buffer.from('')])))
    const { body } = await maintainer.post('/libraries/preview-scan', { path, seriesStrategy })
    return body.suggestedStrategy
  }
  const calibre = [1, 2, 3].flatMap(i => [`Ann/Book ${i} (${i})/Book ${i}.epub`])
  const seasons = ['Hero/Season 1/Hero 001.cbz', 'Hero/Season 2/Hero 001.cbz']
  const comics = ['A/A 1.cbz', 'B/B 1.cbz', 'C/C 1.cbz']
  t.equal(await suggestionFor(['metadata.db', ...comics]), 'calibre', 'the database of Calibre')
  t.equal(await suggestionFor(calibre), 'calibre', 'folders of one EPUB')
  t.equal(
    await suggestionFor([...calibre, 'Ann/Book 1 (1)/Book 1.pdf']),
    'calibre',
    'in two formats',
  )
  t.equal(await suggestionFor(calibre, 'calibre'), null, 'it is chosen')
  t.equal(await suggestionFor(calibre.slice(1)), null, 'too few to be a habit')
  t.equal(await suggestionFor(['N/1.epub', 'N/2.epub', 'M/1.epub', 'M/2.epub']), null)
  t.equal(await suggestionFor(comics), null)
  t.equal(await suggestionFor(seasons), 'series_volume_chapter')
  t.equal(await suggestionFor([...seasons, ...comics]), null, 'most folders are series')
})
