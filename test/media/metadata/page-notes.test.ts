import t from 'tap'
import { pageNotes } from '../../../lib/media/metadata/comicinfo.ts'
import { parseXml } from '../../../lib/media/metadata/xml.ts'

t.test('pages with information are noted, invalid ones are counted', t => {
  const warnings: string[] = []
  const { root } = parseXml(
    Buffer.from(`<Pages><Page Image="0" Type="frontcover"/><Page Image="1"/><Page image="2" DoublePage="True"/>
      <Page Image="3" Type="Nonsense" Bookmark=" One "/><Page Image="0" Type="Story"/>
      <Page Image="-1" Type="Story"/><Page Image="x"/></Pages>`),
  )
  t.same(pageNotes(root ?? undefined, warnings), [
    { image: 0, type: 'FrontCover', double: false, bookmark: null },
    { image: 2, type: null, double: true, bookmark: null },
    { image: 3, type: null, double: false, bookmark: 'One' },
  ])
  t.match(warnings, [/2 entries/])
  t.equal(pageNotes(undefined, warnings), undefined)
  t.end()
})
