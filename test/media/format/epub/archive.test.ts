import t from 'tap'
import type { Container, Entry } from '../../../../lib/media/archive/container.ts'
import { defaultLimits } from '../../../../lib/media/archive/limits.ts'
import { createEpubArchive } from '../../../../lib/media/format/epub/archive.ts'

const archiveOf = (...names: string[]) => {
  const entries = names.map((name, index): Entry => ({ name, index, sizeBytes: 1, packedBytes: 1 }))
  return createEpubArchive({ entries } as unknown as Container, defaultLimits)
}

t.test('hrefs resolve inside the archive', async t => {
  const archive = archiveOf('OPS/a b.xhtml', 'OPS/100%25.xhtml', 'top.xhtml', 'OPS/Été.xhtml')
  const found = (href: string) => archive.resolve('OPS/x/book.opf', href)?.name ?? null
  t.equal(found('../a%20b.xhtml'), 'OPS/a b.xhtml', 'percent-encoded')
  t.equal(found('../a b.xhtml#part?x'), 'OPS/a b.xhtml', 'a fragment is ignored')
  t.equal(found('../100%25.xhtml'), 'OPS/100%25.xhtml', 'a name that looks encoded')
  t.equal(found('../100%.xhtml'), null, 'an invalid escape is tolerated')
  t.equal(found('./.././a b.xhtml'), 'OPS/a b.xhtml')
  t.equal(found('..\\..\\top.xhtml'), 'top.xhtml', 'backslashes')
  t.equal(found('/top.xhtml'), 'top.xhtml', 'from the root of the archive')
  t.equal(found('../e\u0301te\u0301.XHTML'), 'OPS/Été.xhtml', 'another case and Unicode form')
})

t.test('targets outside of the archive are not resolved', async t => {
  const archive = archiveOf('etc/passwd', 'a.png', 'host/a.png')
  for (const href of [
    '../../../etc/passwd',
    '%2e%2e/%2e%2e/etc/passwd',
    'file:///etc/passwd',
    'http://127.0.0.1/a.png',
    '//host/a.png',
    'data:image/png;base64,AAAA',
    '',
    '#a',
  ]) {
    t.equal(archive.resolve('OPS/book.opf', href), null, href)
  }
})

t.test('exact names take precedence over folded ones', async t => {
  const archive = archiveOf('A.xhtml', 'a.xhtml')
  t.equal(archive.find('a.xhtml')?.index, 1)
  t.equal(archive.find('A.xhtml')?.index, 0)
})
