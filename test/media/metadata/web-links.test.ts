// Web links from files and users: normal form, http and https only, no user names, no control characters.
import t from 'tap'
import { parseComicInfo } from '../../../lib/media/metadata/comicinfo.ts'
import { parseMetronInfo } from '../../../lib/media/metadata/metroninfo.ts'
import { parseWebUrl, webUrl } from '../../../lib/media/metadata/user-input.ts'

const schemes = [
  'http:',
  'HTTPS:',
  'https:',
  'javascript:',
  'file:',
  'data:',
  'ftp:',
  '',
  'view-source:https:',
]
const slashes = ['//', '/', '', '\\\\', '///']
const users = ['', 'ana@', 'ana:secret@', ':@', 'a%40b@', '@', 'evil.example\\@']
const hosts = [
  'example.org',
  'EXAMPLE.org:443',
  '[::1]:8080',
  'bücher.example',
  '',
  '0x7f.1',
  'a b',
]
const inserted = [
  '',
  '\r\n',
  '\n',
  '\r',
  '\t',
  '\0',
  '\x1b',
  '\x7f',
  '\x85',
  '\u2028',
  ' ',
  '"><script>',
]
const paths = ['', '/a?b=c#d', '/ä b', '/%0d%0aX: y', '/a@b:c']

const cases: string[] = []
for (const [i, scheme] of schemes.entries())
  for (const slash of slashes)
    for (const user of users)
      for (const [j, host] of hosts.entries())
        for (const [k, extra] of inserted.entries()) {
          const path = paths[(i + j + k) % paths.length]!
          cases.push(`${scheme}${slash}${user}${host}${extra}${path}`)
          cases.push(`${scheme.slice(0, 3)}${extra}${scheme.slice(3)}${slash}${user}${host}${path}`)
          cases.push(`${extra}${scheme}${slash}${user}${host}${path}${extra}`)
        }

/** What is wrong with a link that is stored; null for a good one. */
function defectOf(link: string): string | null {
  const url = URL.parse(link)
  if (url === null) return 'no URL'
  if (url.href !== link) return 'not in normal form'
  if (!['http:', 'https:'].includes(url.protocol)) return 'scheme'
  if (url.username !== '' || url.password !== '') return 'user name'
  if (/[\s\0-\x1f\x7f-\x9f"<>\u2028\u2029]/.test(link)) return 'character'
  return link.length > 2000 ? 'length' : null
}

const accepted = (value: string): string | null => {
  try {
    return parseWebUrl(value, 'url')
  } catch {
    return null
  }
}
const escaped = (text: string) =>
  text.replace(/[&<>"\0-\x1f\x7f]/g, c => (c === '\0' ? '' : `&#${c.charCodeAt(0)};`))

t.test('of all combinations only good links are accepted from users', async t => {
  const links = cases.map(accepted)
  t.same(
    links.flatMap((link, i) => (link && defectOf(link) ? [[cases[i], link, defectOf(link)]] : [])),
    [],
  )
  const documented = new RegExp(webUrl.pattern)
  t.same(
    cases.filter((value, i) => links[i] !== null && !documented.test(value)),
    [],
    'none that the document refuses',
  )
  t.ok(links.filter(link => link !== null).length > 100, 'many are accepted')
  t.equal(
    accepted(' HTTPS://Example.org:443/a b'.replace(' b', '%20b')),
    'https://example.org/a%20b',
  )
  t.equal(accepted(`https://example.org/${'ä'.repeat(900)}`), null, 'too long when encoded')
})

t.test('nor from ComicInfo and MetronInfo', async t => {
  const sample = cases.filter((_value, i) => i % 7 === 0)
  const stored = sample.flatMap(value => {
    const web = parseComicInfo(Buffer.from(`<ComicInfo><Web>${escaped(value)}</Web></ComicInfo>`))
    const urls = parseMetronInfo(
      Buffer.from(`<MetronInfo><URLs><URL>${escaped(value)}</URL></URLs></MetronInfo>`),
    )
    return [web, urls].flatMap(({ metadata }) => (metadata.links ?? []).map(({ url }) => url))
  })
  t.ok(stored.length > 100)
  t.same(
    stored.filter(link => defectOf(link) !== null),
    [],
  )
})
