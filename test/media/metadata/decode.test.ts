import t from 'tap'
import { decodeText } from '../../../lib/media/metadata/decode.ts'

const xml = '<a>é日</a>'

t.test('a byte order mark or UTF-16 takes precedence over the declared encoding', t => {
  const le = Buffer.from(xml, 'utf16le')
  const be = Buffer.from(le).swap16()
  t.equal(decodeText(le).text, xml)
  t.equal(decodeText(be).text, xml)
  t.equal(decodeText(Buffer.concat([Buffer.from([0xff, 0xfe]), le]), 'utf-8').text, xml)
  t.equal(decodeText(Buffer.concat([Buffer.from([0xfe, 0xff]), be])).text, xml)
  t.equal(decodeText(Buffer.from(`\ufeff${xml}`), 'shift_jis').text, xml)
  t.equal(decodeText(Buffer.from(xml), 'utf-16').text, xml, 'as .NET declares its UTF-8')
  t.end()
})

t.test('declared encodings are used, also by code page name', t => {
  t.equal(decodeText(Buffer.from('93fa967b', 'hex'), 'Shift_JIS').text, '日本')
  t.equal(decodeText(Buffer.from('93fa967b', 'hex'), 'cp932').text, '日本')
  t.equal(decodeText(Buffer.from('d6d0cec4', 'hex'), 'GBK').text, '中文')
  t.equal(decodeText(Buffer.from('cff0e8', 'hex'), 'windows-1251').text, 'При')
  t.equal(decodeText(Buffer.from('80e99f', 'hex'), 'ISO-8859-1').text, '€éŸ', 'as Windows-1252')
  t.match(decodeText(Buffer.from('é'), 'x-none'), { text: 'é', warnings: [/x-none/] })
  t.end()
})

t.test('invalid UTF-8 is decoded as Windows-1252, unless most of it is valid', t => {
  t.match(decodeText(Buffer.from('Caf\xe9 \x93x\x94', 'latin1')), {
    text: 'Café “x”',
    warnings: [/Windows-1252/],
  })
  t.match(decodeText(Buffer.from('日本語').subarray(0, 8)), {
    text: '日本\ufffd',
    warnings: [/1 bytes/],
  })
  t.equal(decodeText(Buffer.alloc(0)).text, '')
  t.end()
})
