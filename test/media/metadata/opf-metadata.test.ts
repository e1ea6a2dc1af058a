import t from 'tap'
import { parseOpf } from '../../../lib/media/metadata/opf.ts'

const read = (inner: string, spine = '') =>
  parseOpf(Buffer.from(`<package><metadata>${inner}</metadata><spine ${spine}/></package>`))
const metadata = (inner: string, spine = '') => read(inner, spine).metadata

t.test('the main title is used, blank titles are ignored', t => {
  const refined = `<title id="s">Sub</title><title id="m">Main</title>
    <meta refines="#s" property="title-type">subtitle</meta><meta refines="#m" property="title-type">main</meta>
    <meta refines="#m" property="file-as">Main, The</meta>`
  t.same(metadata(refined), {
    title: 'Main',
    titleSort: 'Main, The',
    subtitle: 'Sub',
  })
  t.same(metadata('<title> </title><title>Second</title>'), { title: 'Second' })
  t.same(metadata('<title>\n</title>'), {})
  t.equal(metadata('<title>A <i>bold</i>\n title</title>').title, 'A bold title')
  t.end()
})

t.test('subtitle and edition are titles of these types, the others are alternate titles', t => {
  const title = (text: string, type: string, place = '') =>
    `<title id="${text}">${text}</title><meta refines="#${text}" property="title-type">${type}</meta>
     <meta refines="#${text}" property="display-seq">${place}</meta>`
  t.same(
    metadata(
      `<title>Book</title>${title('Second', 'Subtitle', '3')}${title('First', 'subtitle', '2')}
       ${title('Anniversary', 'edition')}${title('Abbr', 'short')}<title>Livre</title>`,
    ),
    {
      title: 'Book',
      subtitle: 'First',
      edition: 'Anniversary',
      alternateTitles: [
        { label: 'subtitle', title: 'Second' },
        { label: 'short', title: 'Abbr' },
        { label: 'alternative', title: 'Livre' },
      ],
    },
  )
  t.same(
    metadata('<title>One</title><title>Two</title>'),
    { title: 'One', alternateTitles: [{ label: 'alternative', title: 'Two' }] },
    'of titles without a type the first is the title',
  )
  t.same(metadata(title('Only', 'subtitle')), { title: 'Only' })
  t.end()
})

t.test('the series is a collection, or that of Calibre', t => {
  const collection = (type: string) =>
    `<meta property="belongs-to-collection" id="c">C</meta><meta refines="#c" property="collection-type">${type}</meta>
     <meta refines="#c" property="group-position">2</meta>`
  const calibre =
    '<meta name="calibre:series" content="K"/><meta name="calibre:series_index" content="3.0"/>'
  t.same(metadata(collection('series') + calibre), { series: 'C', number: '2' })
  t.same(metadata(collection('set') + calibre), { series: 'K', number: '3' })
  t.same(metadata(collection('set')), {})
  const untyped = '<meta property="belongs-to-collection" id="c">C</meta>'
  t.same(metadata(untyped), {})
  t.same(metadata(`${untyped}<meta refines="#c" property="group-position">1.5</meta>`), {
    series: 'C',
    number: '1.5',
  })
  t.end()
})

t.test('the publication date is used', t => {
  const dates = `<date opf:event="modification">2020-01-01</date><date opf:event="creation">2019</date>
    <date opf:event="publication">1999-05</date>`
  t.same(metadata(dates), { year: 1999, month: 5 })
  t.same(metadata('<date>0101-01-01T00:00:00+00:00</date>'), {})
  t.same(read('<date>0101-01-01T00:00:00+00:00</date>').warnings, [])
  t.match(read('<date>unknown</date>'), { metadata: {}, warnings: [/date/] })
  t.end()
})

t.test('layout, direction, rating and description', t => {
  t.same(metadata('<meta property="rendition:layout"> </meta>'), {})
  t.same(metadata('<meta name="fixed-layout" content="true"/>'), { layout: 'pre-paginated' })
  t.same(metadata('', 'page-progression-direction="default"'), {})
  t.same(metadata('<meta name="primary-writing-mode" content="vertical-rl"/>'), {
    readingDirection: 'rtl',
  })
  t.same(metadata('<meta name="calibre:rating" content="8.0"/>'), { rating: 80 })
  t.same(metadata('<description/><description>&lt;p&gt;A&lt;/p&gt;</description>'), {
    summary: 'A',
  })
  t.same(metadata('<language>und</language><language>FRA</language>'), { language: 'fr' })
  t.match(read('<language>Klingonese!</language>').warnings, [/language/])
  t.end()
})
