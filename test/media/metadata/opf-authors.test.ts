import t from 'tap'
import { parseOpf } from '../../../lib/media/metadata/opf.ts'

const authors = (inner: string) =>
  parseOpf(Buffer.from(`<package><metadata>${inner}</metadata></package>`)).metadata.authors?.map(
    ({ name, role, sortName }) => [name, role, sortName],
  )

t.test('roles are read from refinements, attributes, words, or the element', t => {
  t.same(
    authors(`<creator id="a">A</creator><creator role="ill">B</creator><creator>C</creator>
      <contributor role="translator">D</contributor><contributor>E</contributor>
      <creator role="xyz">F</creator><meta refines="#a" property="role" scheme="marc:relators">nrt</meta>`),
    [
      ['A', 'narrator', null],
      ['B', 'illustrator', null],
      ['C', 'writer', null],
      ['F', 'contributor', null],
      ['D', 'translator', null],
      ['E', 'contributor', null],
    ],
  )
  t.end()
})

t.test('unknown roles are ignored when there are known ones', t => {
  const roles = ['ann', 'aut', 'dto', 'ill'].map(
    role => `<meta refines="#a" property="role">${role}</meta>`,
  )
  t.same(authors(`<creator id="a">A</creator>${roles.join('')}`), [
    ['A', 'writer', null],
    ['A', 'illustrator', null],
  ])
  t.end()
})

t.test('programs are not authors, joint sort names are ignored', t => {
  t.same(
    authors(`<creator file-as="Blanck, Ulf &amp; Wegner, Stefanie">Ulf Blanck</creator><creator file-as="X, Y">Y X</creator>
      <creator>ulf blanck</creator><creator> </creator><contributor role="bkp">calibre (5.21.0)</contributor>`),
    [
      ['Ulf Blanck', 'writer', null],
      ['Y X', 'writer', 'X, Y'],
    ],
  )
  t.equal(authors(''), undefined)
  t.end()
})
