// Names of companies and people with commas and conjunctions in every source of authors.
import t from 'tap'
import { readXmp, splitAuthors } from '../../../lib/media/format/pdf/metadata.ts'
import { parseComicInfo } from '../../../lib/media/metadata/comicinfo.ts'
import { splitNames } from '../../../lib/media/metadata/user-input.ts'

const bases = ['Marvel Comics', 'Dark Horse', 'Viz Media', 'Kodansha', 'Panini Verlag']
const forms =
  'Inc.|Inc|INC.|Ltd.|Ltd|Limited|LLC|L.L.C.|PLC|Corp.|Co.|GmbH|S.A.|S.r.l.|S.p.A.|B.V.|N.V.|AG|K.K.|LP|Pty. Ltd.|z o.o.|GmbH & Co. KG|Incorporated'.split(
    '|',
  )
const companies = [
  ...forms.flatMap((form, i) => `${bases[i % bases.length]}, ${form}`),
  'Kodansha, Co., Ltd.',
  'Robert Downey, Jr.',
  'Sammy Davis, III',
  'Ann Lee, Ph.D.',
  'Houghton, Mifflin and Company',
  'Little, Brown & Co.',
]
const people = ['Ann Lee', 'Bo Ray', 'José Muñoz']
const names = (authors: { name: string }[] | undefined) => authors?.map(({ name }) => name)
const escaped = (text: string) => text.replaceAll('&', '&amp;')

t.test('a company with a comma is one author, alone and among others', t => {
  for (const company of companies)
    for (const list of [[company], [people[0]!, company], [company, ...people]]) {
      const text = list.join(', ')
      t.same(splitNames(text), list, text)
      const xml = `<ComicInfo><Writer>${escaped(text)}</Writer></ComicInfo>`
      t.same(names(parseComicInfo(Buffer.from(xml)).metadata.authors), list, text)
    }
  t.end()
})

const xmpAuthors = (creator: string) =>
  names(
    readXmp(
      Buffer.from(
        '<rdf:RDF xmlns:rdf="r" xmlns:dc="d"><rdf:Description><dc:creator><rdf:Seq>' +
          `<rdf:li>${escaped(creator)}</rdf:li></rdf:Seq></dc:creator></rdf:Description></rdf:RDF>`,
      ),
    ).metadata.authors,
  )

t.test('conjunctions separate people, not the halves of a company', t => {
  const cases: Record<string, string[]> = {
    'Ann Lee & Bo Ray': ['Ann Lee', 'Bo Ray'],
    'Ann Lee and Bo Ray; Cy Doe': ['Ann Lee', 'Bo Ray', 'Cy Doe'],
    'Simon & Schuster, Inc.': ['Simon & Schuster, Inc.'],
    'Simon & Schuster': ['Simon', 'Schuster'],
    'Little, Brown and Company': ['Little, Brown and Company'],
    'Harper & Brothers; Ann Lee': ['Harper & Brothers', 'Ann Lee'],
    'Ann Lee and Marvel Comics, Inc.': ['Ann Lee', 'Marvel Comics, Inc.'],
    'Marvel Comics, Inc.': ['Marvel Comics, Inc.'],
  }
  for (const [text, expected] of Object.entries(cases)) {
    t.same(names(splitAuthors(text)), expected, text)
    t.same(xmpAuthors(text), expected, text)
  }
  t.same(names(splitAuthors('Herbert, Frank')), ['Herbert, Frank'])
  t.same(names(splitAuthors('Ann Lee, Warner Bros. Entertainment, Inc.')), [
    'Ann Lee',
    'Warner Bros. Entertainment, Inc.',
  ])
  t.end()
})
