import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openZip } from '../../lib/archive/zip/zip.ts'
import { openFile } from '../../lib/file.ts'
import { defaultLimits } from '../../lib/format/contract.ts'
import { parseComicInfo } from '../../lib/metadata/comicinfo.ts'
import { corpus, expectations } from '../format/epub/epub-files.ts'

const fixtures = join(corpus, 'files/veganstraightedge__comicinfo/spec/fixtures')
const parse = (inner: string) => parseComicInfo(Buffer.from(`<ComicInfo>${inner}</ComicInfo>`))

t.test('every ComicInfo in the corpus says what is expected', async t => {
  for (const { path, expected } of expectations('comic')) {
    if (!path.endsWith('.cbz') || expected.outcome !== 'ok' || expected.series === undefined)
      continue
    using file = openFile(Buffer.from(join(corpus, path)))
    const archive = await openZip(file, defaultLimits)
    const entry = archive.entries.find(({ name }) => /^comicinfo\.xml$/i.test(name))
    const { metadata, warnings } = parseComicInfo(await archive.read(entry!, 1_000_000))
    const { series, number, title, publisher, volume, year, language } = metadata
    const text = (value: number | undefined) => (value === undefined ? undefined : String(value))
    const found: Record<string, unknown> = {
      series,
      number,
      title,
      publisher,
      volume: text(volume),
      year: text(year),
      languageiso: language,
    }
    for (const key of Object.keys(found).filter(name => name in expected)) {
      t.same(found[key], expected[key], `${path}: ${key}`)
    }
    t.same(warnings, [], path)
  }
})

t.test('a complete file is read completely', t => {
  const { metadata, warnings } = parseComicInfo(readFileSync(join(fixtures, 'valid_complete.xml')))
  t.same(warnings, [])
  t.match(metadata, {
    number: '1',
    count: 600,
    volume: 3,
    year: 2018,
    month: 3,
    day: 15,
    rating: 85,
    ageRating: 13,
    language: 'en-US',
    manga: false,
    blackAndWhite: false,
    genres: ['Superhero', 'Action', 'Adventure'],
    storyArcs: [
      { name: 'Brand New Day', number: '1' },
      { name: 'Spider-Island', number: '5' },
      { name: 'Civil War', number: '2' },
    ],
    links: [
      { source: 'comicinfo', url: 'https://marvel.com/comics/issue/12345' },
      { url: 'https://comicvine.gamespot.com/amazing-spider-man-1/4000-67890/' },
    ],
  })
  const roles = metadata.authors?.map(({ name, role }) => `${name}/${role}`)
  t.same(roles?.slice(0, 3), ['Dan Slott/writer', 'Christos Gage/writer', 'Ryan Ottley/penciller'])
  t.ok(roles?.includes('John Smith/translator'))
  t.same(metadata.pageNotes?.[2], { image: 2, type: 'Story', double: false, bookmark: 'Chapter 1' })
  t.end()
})

t.test('a summary in HTML is told as text, and so is one that is none', t => {
  const summary = (text: string) => parse(`<Summary>${text}</Summary><Number>1</Number>`).metadata
  const escaped = '&lt;p&gt;Ein &lt;b&gt;Junge&lt;/b&gt; &amp;amp; sein Buch.&lt;/p&gt;'
  t.same(summary(escaped), { summary: 'Ein Junge & sein Buch.', number: '1' })
  t.match(summary('Ein <b>Junge</b> &amp; sein <i>Buch</i>.'), {
    summary: 'Ein Junge & sein Buch.',
  })
  t.match(summary('I &lt;3 you\n  by &lt;unknown&gt;'), { summary: 'I <3 you\n  by <unknown>' })
  t.end()
})

t.test('manga reads from right to left when it says so', t => {
  const { metadata } = parseComicInfo(readFileSync(join(fixtures, 'edge_cases/manga_rtl.xml')))
  t.match(metadata, { manga: true, readingDirection: 'rtl', language: 'ja-JP' })
  t.same(parse('<Manga>Yes</Manga>').metadata, { manga: true })
  t.same(parse('<Manga>Unknown</Manga>').metadata, {})
  t.end()
})

t.test('empty elements and defaults say nothing', t => {
  const empty = parseComicInfo(readFileSync(join(fixtures, 'edge_cases/empty_fields.xml')))
  t.same(empty, { source: 'comicinfo', metadata: {}, warnings: [] })
  const defaults =
    '<Count>-1</Count><Volume>-1</Volume><Year>-1</Year><AgeRating>Unknown</AgeRating>'
  t.same(parse(`${defaults}<BlackAndWhite>Unknown</BlackAndWhite>`).metadata, {})
  t.same(parse('<Volume>0</Volume><Month>0</Month>').metadata, { volume: 0 })
  t.end()
})

t.test('a broken file gives what stands before, after and between its errors', t => {
  const { metadata, warnings } = parseComicInfo(readFileSync(join(fixtures, 'invalid_xml.xml')))
  t.same(metadata, { title: 'Invalid Comic', series: 'Test Series', number: '1', year: 2025 })
  t.ok(warnings.some(warning => /not well formed/.test(warning)))
  for (const name of ['count', 'month', 'day', 'communityrating', 'manga', 'agerating']) {
    t.ok(
      warnings.some(warning => warning.includes(` ${name} `)),
      name,
    )
  }
  t.end()
})

t.test('a field of the wrong kind loses only itself', t => {
  const { metadata, warnings } = parse(
    '<Year>MMXX</Year><Month>2</Month><LanguageISO>jp-JP</LanguageISO>',
  )
  t.same(metadata, { month: 2 })
  t.equal(warnings.length, 2)
  t.same(parse('<LanguageISO>fra-be</LanguageISO>').metadata, { language: 'fr-BE' })
  t.end()
})

t.test('a GTIN is an ISBN or an identifier', t => {
  t.same(parse('<GTIN>0-306-40615-2</GTIN>').metadata, { isbn: '9780306406157' })
  t.same(parse('<GTIN>76194130593600111</GTIN>').metadata, {
    identifiers: [{ scheme: 'gtin', value: '76194130593600111' }],
  })
  t.match(
    parse(
      '<Notes>Tagged with ComicTagger using info from Comic Vine on 2020. [Issue ID 140529]</Notes>',
    ).metadata,
    {
      identifiers: [{ scheme: 'comicvine', value: '140529' }],
    },
  )
  t.match(parse('<Notes>Scraped [CVDB140529].</Notes>').metadata, {
    identifiers: [{ scheme: 'comicvine', value: '140529' }],
  })
  t.end()
})

t.test('links are web addresses only', t => {
  t.match(
    parse('<Web>https://a.example/x,y https://b.example, https://c.example</Web>').metadata.links,
    [{ url: 'https://a.example/x,y' }, { url: 'https://b.example' }, { url: 'https://c.example' }],
  )
  const { metadata, warnings } = parse('<Web>javascript:alert(1)</Web>')
  t.same([metadata, warnings.length], [{}, 1])
  t.end()
})

t.test('lists know names and teams apart', t => {
  const teams = '<Teams>Avengers</Teams><Characters>Hulk</Characters>'
  t.same(parse(`${teams}<MainCharacterOrTeam>Avengers</MainCharacterOrTeam>`).metadata.characters, [
    'Hulk',
  ])
  t.same(parse(`${teams}<MainCharacterOrTeam>Thor</MainCharacterOrTeam>`).metadata.characters, [
    'Hulk',
    'Thor',
  ])
  t.same(parse('<LocalizedSeries>進撃</LocalizedSeries>').metadata.alternateTitles, [
    { label: 'localized', title: '進撃' },
  ])
  t.end()
})

t.test('another document is no ComicInfo', t => {
  for (const text of ['', '<html><title>Not found</title></html>', '\x00\x01', '{}']) {
    const { metadata, warnings } = parseComicInfo(Buffer.from(text))
    t.same(metadata, {})
    t.ok(warnings.length > 0)
  }
  t.end()
})
