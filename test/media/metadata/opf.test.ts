import { readFileSync } from 'node:fs'
import t from 'tap'
import { parseOpf, parseOpfSidecar } from '../../../lib/media/metadata/opf.ts'
import { corpusPath, skipWithoutCorpus } from '../../kit/files/corpus.ts'
import { calibreSidecar, prefixedPackage } from './samples.ts'

const sample = (name: string) =>
  readFileSync(corpusPath(`files/gotson__komga/komga/src/test/resources/epub/${name}`)!)

t.test('a package with namespace prefixes is read', t => {
  const { metadata, manifest, spine, cover, warnings } = parseOpf(prefixedPackage)
  t.same(warnings, [])
  t.match(metadata, {
    title: 'Sturm am Kap',
    series: 'Die Leuchtturmkinder',
    number: '1.5',
    year: 1999,
    month: 7,
    day: 31,
    isbn: '9780306406157',
    publisher: 'Hafen',
    language: 'de',
    genres: ['Kinder- und Jugendbücher'],
    readingDirection: 'rtl',
    rating: 60,
    authors: [
      { name: 'Ulla Blau', role: 'writer', sortName: 'Blau, Ulla' },
      { name: 'The Editor', role: 'editor', sortName: 'Editor, The' },
    ],
    summary: 'Der erste Band am Kap...',
  })
  t.same([manifest.length, spine.length, cover], [3, 2, 'cover'])
  t.end()
})

t.test('a third-party package with prefixes is read', { skip: skipWithoutCorpus(4) }, t => {
  const { metadata, manifest, spine, cover, warnings } = parseOpf(
    sample('Panik im Paradies - namespace.opf'),
  )
  t.same(warnings, [])
  t.match(metadata, {
    title: 'Panik im Paradies',
    series: 'Die drei ??? Kids',
    number: '1.5',
    year: 1999,
    month: 7,
    day: 31,
    isbn: '9783440077894',
    publisher: 'Kosmos',
    language: 'de',
    genres: ['Kinder- und Jugendbücher'],
    readingDirection: 'rtl',
    rating: 60,
    authors: [
      { name: 'Ulf Blanck', role: 'writer', sortName: 'Blanck, Ulf' },
      { name: 'The Editor', role: 'editor', sortName: 'Editor, The' },
    ],
  })
  t.match(metadata.summary, /^Bereits im ersten Band .*hütet\.\.\.$/)
  t.same([manifest.length, spine.length, cover], [65, 25, 'cover'])
  t.end()
})

t.test('a sidecar is a separate source, without layout', t => {
  const { source, metadata } = parseOpfSidecar(calibreSidecar)
  t.equal(source, 'opf')
  t.match(metadata, { series: 'Die Leuchtturmkinder', number: '3', isbn: '9780306406157' })
  const fixed =
    '<package><metadata><meta property="rendition:layout">pre-paginated</meta></metadata></package>'
  t.equal(parseOpf(Buffer.from(fixed)).metadata.layout, 'pre-paginated')
  t.same(parseOpfSidecar(Buffer.from(fixed)).metadata, {})
  t.end()
})

t.test('misplaced parts are found, missing parts are empty', t => {
  t.equal(
    parseOpf(Buffer.from('<metadata><title>Moby-Dick</title></metadata>')).metadata.title,
    'Moby-Dick',
  )
  const unclosed = '<package><metadata><title>T</title><manifest><item id="a" href="b"/></manifest>'
  t.match(parseOpf(Buffer.from(unclosed)).manifest, [{ id: 'a', href: 'b', mediaType: '' }])
  t.match(parseOpf(Buffer.from('')), {
    isEmpty: true,
    metadata: {},
    manifest: [],
    spine: [],
    guide: [],
  })
  t.end()
})

t.test('OEB 1.2 is supported', t => {
  const oeb = `<package><metadata><dc-metadata><dc:Title>T</dc:Title><dc:Creator role="aut" file-as="A, B">B A</dc:Creator></dc-metadata>
    <x-metadata><meta name="cover" content="c"/></x-metadata></metadata>
    <spine><itemref idref="a" linear="no"/></spine><guide><reference type="Cover" href="c.html"/></guide></package>`
  t.match(parseOpf(Buffer.from(oeb)), {
    metadata: { title: 'T', authors: [{ name: 'B A', role: 'writer', sortName: 'A, B' }] },
    cover: 'c',
    spine: [{ id: 'a', properties: [] }],
    guide: [{ type: 'cover', href: 'c.html' }],
  })
  t.end()
})
