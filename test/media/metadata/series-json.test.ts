import t from 'tap'
import { parseSeriesJson } from '../../../lib/media/metadata/series-json.ts'

const parse = (value: unknown) => parseSeriesJson(Buffer.from(JSON.stringify(value)))

t.test('the fields of Mylar are read', t => {
  const { source, metadata, warnings } = parse({
    version: '1.0.2',
    metadata: {
      type: 'comicSeries',
      publisher: 'DC Comics',
      imprint: 'None',
      name: 'Aquaman',
      comicid: 43022,
      year: 2011,
      description_text: 'A king.\nOf the sea.',
      description_formatted: null,
      volume: null,
      booktype: 'Print',
      age_rating: '15+',
      total_issues: 52,
      status: 'Ended',
    },
  })
  t.equal(source, 'series_json')
  t.same(warnings, [])
  t.same(metadata, {
    series: 'Aquaman',
    publisher: 'DC Comics',
    year: 2011,
    totalChapterCount: 52,
    summary: 'A king.\nOf the sea.',
    status: 'ended',
    format: 'Print',
    ageRating: 15,
    identifiers: [{ scheme: 'comicvine', value: '43022' }],
    links: [
      {
        source: 'comicvine',
        url: 'https://comicvine.gamespot.com/volume/4050-43022/',
        externalId: '43022',
      },
    ],
  })
  t.end()
})

t.test('fields may be at the top level, strings, or invalid', t => {
  t.same(parse({ name: 'A', year: '2020', status: 'Continuing' }).metadata, {
    series: 'A',
    year: 2020,
    status: 'ongoing',
  })
  const { metadata, warnings } = parse({
    metadata: { name: [], year: 'soon', comicid: '../x', description_formatted: '<p>A</p>' },
  })
  t.same(metadata, { summary: 'A' })
  const { metadata: marked } = parse({ description_text: 'A<br>&amp; B' })
  t.same(marked, { summary: 'A\n& B' })
  t.equal(warnings.length, 1)
  t.end()
})

t.test('documents that are not an object are rejected', t => {
  for (const text of ['', 'null', '[]', '1', '{"metadata"', '['.repeat(100_000), '\ufeff"x"']) {
    const { metadata, warnings } = parseSeriesJson(Buffer.from(text))
    t.same(metadata, {})
    t.equal(warnings.length, 1)
  }
  t.match(parseSeriesJson(Buffer.from('\ufeff{"name":"é"}', 'utf16le')).metadata, { series: 'é' })
  t.match(parseSeriesJson(Buffer.alloc(2_000_000)).warnings, [/too large/])
  t.end()
})
