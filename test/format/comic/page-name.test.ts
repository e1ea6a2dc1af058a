import t from 'tap'
import { isLeftover, pageType } from '../../../lib/format/comic/page-name.ts'

t.test('pages are known by extension', async t => {
  t.equal(pageType('a/01.JPG'), 'image/jpeg')
  t.equal(pageType('01.jxl'), 'image/jxl')
  t.equal(pageType('ComicInfo.xml'), null)
  t.equal(pageType('jpg'), 'image/jpeg')
  t.equal(pageType('constructor.constructor'), null)
})

t.test('hidden and left behind files are known by their path', async t => {
  for (const name of [
    '.a.jpg',
    'x/.y/a.jpg',
    '__MACOSX/a.jpg',
    '__macosx/a.jpg',
    '@eaDir/a.jpg',
    '._a.jpg',
  ])
    t.ok(isLeftover(name), name)
  for (const name of ['./a.jpg', '../a.jpg', 'a.b/c.jpg', '_cover.jpg', '@ home.jpg'])
    t.notOk(isLeftover(name), name)
})
