import { readFileSync } from 'node:fs'
import t from 'tap'
import { openFile } from '../../../lib/base/file.ts'
import { defaultLimits } from '../../../lib/media/archive/limits.ts'
import { openZip } from '../../../lib/media/archive/zip/zip.ts'
import { parseComicInfo } from '../../../lib/media/metadata/comicinfo.ts'
import { corpusBooks, corpusPath, skipWithoutCorpus } from '../../kit/files/corpus.ts'
import { use } from '../../kit/use.ts'
import { brokenComicInfo, completeComicInfo } from './samples.ts'

const folder = 'files/veganstraightedge__comicinfo/spec/fixtures'
const thirdPartyFile = (name: string) => readFileSync(corpusPath(`${folder}/${name}`)!)
const parse = (inner: string) => parseComicInfo(Buffer.from(`<ComicInfo>${inner}</ComicInfo>`))

t.test('ComicInfo documents of the corpus have the expected values', async t => {
  for (const { name: file, path, expected } of corpusBooks(['comic'])) {
    if (!path.endsWith('.cbz') || expected.outcome !== 'ok' || expected.series === undefined)
      continue
    const opened = use(t, openFile(Buffer.from(path)))
    const archive = await openZip(opened, defaultLimits)
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
      t.same(found[key], expected[key], `${file}: ${key}`)
    }
    t.same(warnings, [], file)
  }
})

t.test('all elements are read', t => {
  const { metadata, warnings } = parseComicInfo(completeComicInfo)
  t.same(warnings, [])
  t.match(metadata, {
    title: 'The Long Way Down',
    series: 'Lighthouse',
    number: '1',
    count: 600,
    volume: 3,
    year: 2018,
    month: 3,
    day: 15,
    rating: 85,
    ageRating: 13,
    language: 'en-US',
    publisher: 'Harbour Press',
    imprint: 'Pier',
    manga: false,
    blackAndWhite: false,
    genres: ['Sea', 'Mystery', 'Adventure'],
    tags: ['storm', 'island'],
    storyArcs: [
      { name: 'High Tide', number: '1' },
      { name: 'Low Tide', number: '5' },
      { name: 'Calm', number: '2' },
    ],
    links: [
      { source: 'comicinfo', url: 'https://example.org/issue/12345' },
      { url: 'https://example.com/lighthouse-1/' },
    ],
  })
  const roles = metadata.authors?.map(({ name, role }) => `${name}/${role}`)
  t.same(roles?.slice(0, 3), ['Ana Author/writer', 'Bo Bard/writer', 'Cy Pencil/penciller'])
  t.ok(roles?.includes('Ida Word/translator'))
  t.same(metadata.pageNotes?.[2], { image: 2, type: 'Story', double: false, bookmark: 'Chapter 1' })
  t.end()
})

t.test('a complete third-party file is read completely', { skip: skipWithoutCorpus(5) }, t => {
  const { metadata, warnings } = parseComicInfo(thirdPartyFile('valid_complete.xml'))
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

t.test('a summary in HTML is converted to text, plain text is not changed', t => {
  const summary = (text: string) => parse(`<Summary>${text}</Summary><Number>1</Number>`).metadata
  const escaped = '&lt;p&gt;Ein &lt;b&gt;Junge&lt;/b&gt; &amp;amp; sein Buch.&lt;/p&gt;'
  t.same(summary(escaped), { summary: 'Ein Junge & sein Buch.', number: '1' })
  t.match(summary('Ein <b>Junge</b> &amp; sein <i>Buch</i>.'), {
    summary: 'Ein Junge & sein Buch.',
  })
  t.match(summary('I &lt;3 you\n  by &lt;unknown&gt;'), { summary: 'I <3 you\n  by <unknown>' })
  t.end()
})

t.test('the reading direction is read from Manga', t => {
  const { metadata } = parse('<Manga>YesAndRightToLeft</Manga><LanguageISO>ja-JP</LanguageISO>')
  t.match(metadata, { manga: true, readingDirection: 'rtl', language: 'ja-JP' })
  t.same(parse('<Manga>Yes</Manga>').metadata, { manga: true })
  t.same(parse('<Manga>Unknown</Manga>').metadata, {})
  t.end()
})

t.test('empty elements and defaults are ignored', t => {
  const empty = parse('<Title></Title><Series/><Number> </Number><Genre></Genre><Pages/><Web/>')
  t.same(empty, { source: 'comicinfo', metadata: {}, warnings: [] })
  const defaults =
    '<Count>-1</Count><Volume>-1</Volume><Year>-1</Year><AgeRating>Unknown</AgeRating>'
  t.same(parse(`${defaults}<BlackAndWhite>Unknown</BlackAndWhite>`).metadata, {})
  t.same(parse('<Volume>0</Volume><Month>0</Month>').metadata, { volume: 0 })
  t.end()
})

t.test('valid parts of a malformed document are read', t => {
  const { metadata, warnings } = parseComicInfo(brokenComicInfo)
  t.same(metadata, { title: 'Torn Pages', series: 'Lighthouse', number: '1', year: 2025 })
  t.ok(warnings.some(warning => /not well formed/.test(warning)))
  for (const name of ['count', 'month', 'day', 'communityrating', 'manga', 'agerating']) {
    t.ok(
      warnings.some(warning => warning.includes(` ${name} `)),
      name,
    )
  }
  t.end()
})

t.test('invalid fields are ignored', t => {
  const { metadata, warnings } = parse(
    '<Year>MMXX</Year><Month>2</Month><LanguageISO>xx-JP</LanguageISO>',
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

t.test('only http URLs are links', t => {
  t.match(
    parse('<Web>https://a.example/x,y https://b.example, https://c.example</Web>').metadata.links,
    [{ url: 'https://a.example/x,y' }, { url: 'https://b.example' }, { url: 'https://c.example' }],
  )
  const { metadata, warnings } = parse('<Web>javascript:alert(1)</Web>')
  t.same([metadata, warnings.length], [{}, 1])
  t.end()
})

t.test('the main character or team is added to the right list', t => {
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

t.test('other documents are rejected', t => {
  for (const text of ['', '<html><title>Not found</title></html>', '\x00\x01', '{}']) {
    const { metadata, warnings } = parseComicInfo(Buffer.from(text))
    t.same(metadata, {})
    t.ok(warnings.length > 0)
  }
  t.end()
})

t.test('a number with a decimal comma has a point', async t => {
  const number = (text: string) =>
    parseComicInfo(Buffer.from(`<ComicInfo><Number>${text}</Number></ComicInfo>`)).metadata.number
  for (const [text, expected] of [
    ['1,5', '1.5'],
    ['-1,25', '-1.25'],
    ['1,000', '1,000'],
    ['1,2,3', '1,2,3'],
    ['½', '½'],
  ] as const)
    t.equal(number(text), expected)
})
