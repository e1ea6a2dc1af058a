import t from 'tap'
import { isSystemFile, pageMediaType } from '../../../../lib/media/format/comic/page-name.ts'

t.test('pages are known by extension', async t => {
  t.equal(pageMediaType('a/01.JPG'), 'image/jpeg')
  t.equal(pageMediaType('01.jxl'), 'image/jxl')
  t.equal(pageMediaType('ComicInfo.xml'), null)
  t.equal(pageMediaType('jpg'), 'image/jpeg')
  t.equal(pageMediaType('constructor.constructor'), null)
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
    t.ok(isSystemFile(name), name)
  for (const name of ['./a.jpg', '../a.jpg', 'a.b/c.jpg', '_cover.jpg', '@ home.jpg'])
    t.notOk(isSystemFile(name), name)
})
