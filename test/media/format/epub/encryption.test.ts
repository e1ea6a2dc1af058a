import t from 'tap'
import { firstCover } from '../../../kit/files/covers.ts'
import { epubBytes, item, openEpub, pngHeader } from '../../../kit/files/epub.ts'

const encryption = (
  algorithm: string,
) => `<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
  <EncryptedData xmlns="http://www.w3.org/2001/04/xmlenc#"><EncryptionMethod Algorithm="${algorithm}"/>
  <CipherData><CipherReference URI="OPS/i.png"/></CipherData></EncryptedData></encryption>`

const book = (algorithm: string, more: Record<string, string> = {}) =>
  epubBytes({
    metadata: '<title>Locked</title>',
    manifest: item('i', 'i.png', 'image/png', 'cover-image'),
    files: {
      'OPS/i.png': pngHeader(1, 1),
      'META-INF/encryption.xml': encryption(algorithm),
      ...more,
    },
  })

t.test('of a DRM-protected book only the metadata is read', async t => {
  const opened = await openEpub(t.testdir(), book('http://www.w3.org/2001/04/xmlenc#aes128-cbc'))
  t.match(await opened.metadata(), [{ metadata: { title: 'Locked' } }])
  t.match(opened.warnings, [/protected: 1 encrypted files/])
  await t.rejects(opened.page(0), { code: 'encrypted' })
  t.equal(await firstCover(opened), null)
})

t.test('font obfuscation is not protection', async t => {
  const opened = await openEpub(t.testdir(), book('http://www.idpf.org/2008/embedding'))
  t.same(opened.warnings, [])
  t.ok(await opened.page(0))
})

t.test('a licence without encrypted files yields a warning', async t => {
  const rights = { 'META-INF/rights.xml': '<rights/>' }
  const opened = await openEpub(t.testdir(), book('http://ns.adobe.com/pdf/enc#RC', rights))
  t.match(opened.warnings, [/license/])
  t.ok(await firstCover(opened))
})
