import { readFileSync } from 'node:fs'
import t from 'tap'
import { parseMetronInfo } from '../../../lib/media/metadata/metroninfo.ts'
import { corpusPath, skipWithoutCorpus } from '../../kit/files/corpus.ts'
import { completeMetronInfo } from './samples.ts'

const schemaSample = 'files/Metron-Project__metroninfo/schema/v1.0/Sample.xml'
const parse = (inner: string) => parseMetronInfo(Buffer.from(`<MetronInfo>${inner}</MetronInfo>`))

t.test('a complete file is read completely', t => {
  const { metadata, warnings } = parseMetronInfo(completeMetronInfo)
  t.same(warnings, [])
  const { authors, characters, ...rest } = metadata
  t.match(rest, {
    title: 'High Tide; Low Tide',
    series: 'The Lighthouse',
    seriesSort: 'Lighthouse',
    volume: 2,
    count: 60,
    format: 'Single Issue',
    language: 'en',
    number: '1',
    year: 2011,
    month: 10,
    day: 1,
    publisher: 'Harbour Press',
    imprint: 'Pier',
    genres: ['Sea', 'Crime'],
    tags: ['storm', 'island'],
    teams: ['Coast Guard'],
    locations: ['Rock Island'],
    ageRating: 0,
    storyArcs: [
      { name: 'Origin', number: '1' },
      { name: 'Tides!', number: null },
    ],
    alternateTitles: [
      { label: 'alternative', title: 'Beacon' },
      { label: 'de', title: 'Der Leuchtturm' },
    ],
    identifiers: [
      { scheme: 'metron', value: '290431' },
      { scheme: 'comicvine', value: '12345' },
      { scheme: 'gcd', value: '543' },
      { scheme: 'mangadex' },
      { scheme: 'isbn', value: '1234567890123' },
      { scheme: 'upc', value: '01234567890100111' },
    ],
  })
  t.equal(metadata.isbn, undefined, 'its ISBN is invalid')
  t.equal(metadata.links?.length, 2)
  t.same(characters, ['The Keeper', 'Gull'])
  t.same(
    authors?.map(({ name, role }) => `${name}/${role}`),
    [
      'Ana Author/writer',
      'Cy Pencil/penciller',
      'Cy Pencil/cover_artist',
      'Hal Edit/editor',
      'Jo Boss/contributor',
    ],
  )
  t.end()
})

t.test('the sample of the schema is read completely', { skip: skipWithoutCorpus(9) }, t => {
  const { metadata, warnings } = parseMetronInfo(readFileSync(corpusPath(schemaSample)!))
  t.same(warnings, [])
  const { authors, characters, ...rest } = metadata
  t.match(rest, {
    title: 'Justice League, Part One; Justice League, Part Two',
    series: 'Justice League',
    seriesSort: 'Justice League',
    volume: 2,
    count: 60,
    format: 'Single Issue',
    language: 'en',
    number: '1',
    year: 2011,
    month: 10,
    day: 1,
    publisher: 'DC Comics',
    imprint: 'Vertigo',
    genres: ['Super-Hero', 'Crime', 'Foo Bar'],
    tags: ['Foo', 'Bar'],
    teams: ['Justice League', 'Parademons'],
    locations: ['Gotham City', 'Metropolis'],
    ageRating: 0,
    storyArcs: [
      { name: 'Origin', number: '1' },
      { name: 'The New 52!', number: null },
    ],
    alternateTitles: [
      { label: 'alternative', title: 'Foo' },
      { label: 'de', title: 'Hüsker Dü' },
    ],
    identifiers: [
      { scheme: 'metron', value: '290431' },
      { scheme: 'comicvine', value: '12345' },
      { scheme: 'gcd', value: '543' },
      { scheme: 'mangadex' },
      { scheme: 'isbn', value: '1234567890123' },
      { scheme: 'upc', value: '76194130593600111' },
    ],
  })
  t.equal(metadata.isbn, undefined, 'its ISBN is invalid')
  t.equal(metadata.links?.length, 3)
  t.equal(characters?.length, 12)
  const roles = authors?.map(({ name, role }) => `${name}/${role}`)
  for (const author of [
    'Jim Lee/penciller',
    'Jim Lee/cover_artist',
    'Rex Ogle/editor',
    'Dan DiDio/contributor',
  ]) {
    t.ok(roles?.includes(author), author)
  }
  t.end()
})

t.test('MangaVolume, ISBN and StoreDate are alternatives', t => {
  const { metadata } = parse(
    `<Series><Volume>1</Volume></Series><MangaVolume>3-4</MangaVolume><StoreDate>2020-05-06</StoreDate>
     <GTIN><ISBN>9780306406157</ISBN></GTIN><CollectionTitle>All</CollectionTitle>`,
  )
  t.same(metadata, { volume: 3, year: 2020, month: 5, day: 6, isbn: '9780306406157', title: 'All' })
  t.end()
})

t.test('invalid values are ignored', t => {
  const { metadata, warnings } = parse(
    `<Number>½</Number><CoverDate>never</CoverDate><AgeRating>Odd</AgeRating>
     <Series><Volume>two</Volume></Series><URLs><URL>javascript:x</URL></URLs>
     <Credits><Credit><Creator>A</Creator></Credit><Credit><Roles/></Credit></Credits>`,
  )
  t.same(metadata, { number: '½', authors: [{ name: 'A', role: null, sortName: null }] })
  t.equal(warnings.length, 3)
  t.same(parseMetronInfo(Buffer.from('<ComicInfo/>')).metadata, {})
  t.end()
})
