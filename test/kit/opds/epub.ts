// Generators of EPUBs: one with every kind of resource, one of version 2.
import { hash } from 'node:crypto'
import { png, zip } from '../files/archives.ts'

type Files = Record<string, string | Uint8Array>
type Parts = {
  /** Inside `package`, before the manifest. */
  metadata?: string
  manifest: string
  spine: string
  direction?: 'ltr' | 'rtl'
  more?: string
  files?: Files
}

const container =
  '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'

/** An EPUB with its package in `OPS/book.opf`; strings are deflated, bytes are stored. */
export function epubOf({
  metadata = '',
  manifest,
  spine,
  direction,
  more = '',
  files = {},
}: Parts): Buffer {
  const progression = direction ? ` page-progression-direction="${direction}"` : ''
  const opf = `<package unique-identifier="uid"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
    <dc:identifier id="uid"> urn:uuid:11111111-2222-4333-8444-555555555555\n</dc:identifier>${metadata}</metadata>
    <manifest>${manifest}</manifest><spine${progression}>${spine}</spine>${more}</package>`
  const all: Files = { 'META-INF/container.xml': container, 'OPS/book.opf': opf, ...files }
  const entries = Object.entries(all).map(([name, content]) => ({
    name,
    bytes: Buffer.from(content as string),
    deflate: typeof content === 'string',
  }))
  return zip([{ name: 'mimetype', bytes: Buffer.from('application/epub+zip') }, ...entries])
}

export const item = (id: string, href: string, mediaType: string, properties = '') =>
  `<item id="${id}" href="${href}" media-type="${mediaType}" properties="${properties}"/>`
export const refs = (...ids: string[]) => ids.map(id => `<itemref idref="${id}"/>`).join('')

export const xhtml = 'application/xhtml+xml'
export const page = (body: string) =>
  `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>${body}</body></html>`

/** Applies the font obfuscation of the IDPF, which is its own inverse. */
export function obfuscated(bytes: Uint8Array): Buffer {
  const key = hash('sha1', 'urn:uuid:11111111-2222-4333-8444-555555555555', 'buffer')
  return Buffer.from(bytes.map((byte, i) => (i < 1040 ? byte ^ key[i % 20]! : byte)))
}

export const font = Buffer.alloc(3000, 'OTTO of a font ')
export const mp3 = Buffer.alloc(5000, '0123456789')

const nav = `<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body>
  <nav epub:type="toc"><h1>Contents</h1><ol>
    <li><a href="Text/one%20%26%20two.xhtml">One &amp; two</a><ol><li><a href="Text/one%20&amp;%20two.xhtml#p%C3%A9">Inner</a></li></ol></li>
    <li><span>A part</span><ol><li><a href="Text/日本.xhtml">日本</a></li></ol></li>
    <li><a href="../../../etc/passwd">Out</a></li>
    <li><a href="file:///etc/passwd">File</a></li>
    <li><a href="https://example.org/x">Web</a></li>
    <li><a href="../META-INF/container.xml">Container</a></li>
  </ol></nav>
  <nav epub:type="landmarks"><ol><li><a epub:type="bodymatter" href="Text/one%20%26%20two.xhtml">Start</a></li></ol></nav>
  <nav epub:type="page-list"><ol><li><a href="Text/日本.xhtml#p7">7</a></li></ol></nav>
</body></html>`

const encryptedData = (uri: string, algorithm: string) =>
  `<EncryptedData><EncryptionMethod Algorithm="${algorithm}"/><CipherData><CipherReference URI="${uri}"/></CipherData></EncryptedData>`

/** Every kind of resource: chapters of 3 and 2 positions, a non-linear note, a script, an obfuscated font, an encrypted image. */
export const richEpub = (): Buffer =>
  epubOf({
    metadata: '<dc:title>Everything</dc:title>',
    manifest: [
      item('nav', 'nav.xhtml', xhtml, 'nav'),
      item('a', 'Text/one%20%26%20two.xhtml', xhtml, 'scripted'),
      item('b', 'Text/%E6%97%A5%E6%9C%AC.xhtml', xhtml),
      item('n', 'Text/note.xhtml', xhtml),
      item('css', 'Styles/100%25.css', 'text/css'),
      item('js', 'run.js', 'text/javascript'),
      item('html', 'old.html', 'text/html'),
      item('exe', 'setup.exe', 'application/x-msdownload'),
      item('img', 'cafe%CC%81.png', 'image/png', 'cover-image'),
      item('font', 'a.otf', 'application/vnd.ms-opentype'),
      item('lock', 'locked.png', 'image/png'),
      item('mp3', 'a.mp3', 'audio/mpeg'),
      item('gone', 'gone.xhtml', xhtml),
      item('out', '../../outside.xhtml', xhtml),
      item('web', 'https://example.org/a.xhtml', xhtml),
      item('meta', '../META-INF/container.xml', 'text/xml'),
      item('type', '../mimetype', 'text/plain'),
      item('again', 'Text/note.xhtml', xhtml),
    ].join(''),
    spine: `${refs('a', 'b', 'a', 'gone')}<itemref idref="n" linear="no"/>`,
    files: {
      'OPS/nav.xhtml': nav,
      'OPS/Text/one & two.xhtml': page(`<script>alert(1)</script>${'a'.repeat(3000 - 130)}`),
      'OPS/Text/日本.xhtml': page('b'.repeat(1500)),
      'OPS/Text/note.xhtml': page('a note'),
      'OPS/Styles/100%.css': 'p { color: red }',
      'OPS/run.js': 'alert(1)',
      'OPS/old.html': '<script>alert(1)</script>',
      'OPS/setup.exe': 'MZ',
      'OPS/café.png': png(3),
      'OPS/a.otf': obfuscated(font),
      'OPS/locked.png': png(4),
      'OPS/a.mp3': mp3,
      'OPS/unlisted.xhtml': page('unlisted'),
      'META-INF/encryption.xml': `<encryption>${encryptedData('OPS/a.otf', 'http://www.idpf.org/2008/embedding')}${encryptedData('OPS/locked.png', 'http://www.w3.org/2001/04/xmlenc#aes256-cbc')}</encryption>`,
    },
  })

/** An EPUB 2 with an NCX and a guide. */
export const epub2 = (): Buffer =>
  epubOf({
    metadata: '<dc:title>Older</dc:title>',
    manifest:
      item('ncx', 'toc.ncx', 'application/x-dtbncx+xml') +
      item('a', 'a.html', xhtml) +
      item('b', 'b.html', xhtml),
    spine: refs('a', 'b'),
    more: '<guide><reference type="text" title="Start" href="b.html"/></guide>',
    files: {
      'OPS/toc.ncx': `<ncx><navMap><navPoint><navLabel><text> First
        chapter </text></navLabel><content src="a.html"/><navPoint><navLabel><text>Within</text></navLabel><content src="a.html#x"/></navPoint></navPoint>
        </navMap><pageList><pageTarget><navLabel><text>1</text></navLabel><content src="b.html#p1"/></pageTarget></pageList></ncx>`,
      'OPS/a.html': page('a'),
      'OPS/b.html': page('b'),
    },
  })
