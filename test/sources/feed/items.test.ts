// Releases from feed items: formats of feeds, ids, media URLs, info hashes, rules.
import { test } from 'tap'
import { checkAnswer } from '../../../lib/sources/check.ts'
import { ReleasePage } from '../../../lib/sources/contract.ts'
import type { FeedConfig } from '../../../lib/sources/feed/config.ts'
import { readFeed } from '../../../lib/sources/feed/items.ts'
import { releasesOf } from '../../../lib/sources/feed/releases.ts'
import { rss, rssItem } from './server.ts'

const hash = 'da39a3ee5e6b4b0d3255bfef95601890afd80709'
const base32 = '3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'

function read(feed: string, config: Partial<FeedConfig> = {}) {
  const { items, summary } = releasesOf(readFeed(Buffer.from(feed), null), {
    url: 'https://books.example/feed',
    ...config,
  })
  checkAnswer(ReleasePage, { items, cursor: null, isLast: true })
  return { items, summary, first: items[0]! }
}

test('the formats of feeds are read alike', t => {
  const title = '[Group] Blue Box v01-02 (Digital)'
  const feeds = {
    rss2: rss(
      `<item><title>${title}</title><link>https://books.example/1</link><guid isPermaLink="false">id-1</guid>
       <pubDate>Mon, 06 Sep 2021 00:01:00 +0000</pubDate>
       <enclosure url="https://books.example/1.torrent" type="application/x-bittorrent" length="9"/></item>`,
    ),
    rss1: `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
       xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="https://books.example/"><title>t</title>
       <link>https://books.example/</link><description>d</description></channel>
       <item rdf:about="id-1"><title>${title}</title><link>https://books.example/1</link>
       <dc:date>2021-09-06T00:01:00Z</dc:date></item></rdf:RDF>`,
    atom: `<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><id>f</id><updated>2021-09-06T00:01:00Z</updated>
       <entry><id>id-1</id><title>${title}</title><updated>2021-09-06T00:01:00Z</updated>
       <link href="https://books.example/1"/>
       <link rel="enclosure" type="application/x-bittorrent" href="https://books.example/1.torrent"/></entry></feed>`,
    json: JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      title: 't',
      items: [
        {
          id: 'id-1',
          title,
          url: 'https://books.example/1',
          date_published: '2021-09-06T00:01:00Z',
          attachments: [
            { url: 'https://books.example/1.torrent', mime_type: 'application/x-bittorrent' },
          ],
        },
      ],
    }),
  }
  for (const [format, feed] of Object.entries(feeds)) {
    const { first } = read(feed)
    t.match(
      first,
      {
        externalReleaseId: 'id-1',
        title,
        payloadUrl: 'https://books.example/1',
        groupOrUploader: 'Group',
        volumes: [{ start: 1, end: 2 }],
        chapters: null,
        seriesTitles: ['Blue Box'],
        formatHints: { digital: true },
        releasedAt: '2021-09-06T00:01:00.000Z',
      },
      format,
    )
    if (format !== 'rss1')
      t.match(first, { mediaUrl: 'https://books.example/1.torrent', mediaUrlKind: 'torrent' })
  }
  t.end()
})

test('what feeds state of themselves and of an item', t => {
  const dc = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
  const both = (language: string) =>
    `<dc:creator>Ana</dc:creator><dc:creator>Ben</dc:creator>
     <dc:language>${language}</dc:language><dc:language>xx</dc:language>
     <dc:date>2021-09-06</dc:date><dc:date>1999-01-01</dc:date>`
  const atomLink = (rel: string, name: string) =>
    `<link ${rel} href="https://books.example/${name}" type="text/html" length="7"/>`
  const feeds = {
    rss2: `<rss version="2.0" ${dc}><channel><title>Feed</title><link>https://books.example/</link><language>fr</language>
      <item><guid isPermaLink="false">a</guid><title>A</title><link>https://books.example/a</link>${both('de')}
      <category>one</category><category>two</category>
      <enclosure url="https://books.example/a.cbz" type="text/html" length="7"/></item></channel></rss>`,
    rss1: `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" ${dc}>
      <channel rdf:about="f"><title>Feed</title><link>https://books.example/</link><dc:language>fr</dc:language>
      <dc:language>xx</dc:language></channel><item rdf:about="a"><title>A</title><link>https://books.example/a</link>
      ${both('de')}<dc:subject>one</dc:subject><dc:subject>two</dc:subject></item></rdf:RDF>`,
    atom: `<feed xmlns="http://www.w3.org/2005/Atom" ${dc}><title>Feed</title><id>f</id>
      ${atomLink('rel="self"', 'self')}${atomLink('', '')}${atomLink('', 'later')}
      <entry><id>a</id><title>A</title><updated>2022-01-01</updated><published>2021-09-06</published>
      ${atomLink('rel="edit"', 'edit')}${atomLink('rel="alternate"', 'a')}${atomLink('rel="enclosure"', 'a.cbz')}
      <author><name>Ana</name></author><author><name>Ben</name></author><dc:language>de</dc:language>
      <category term="1" label="one"/><category term="two"/></entry></feed>`,
    json: JSON.stringify({
      ...{ version: 'https://jsonfeed.org/version/1.1', title: 'Feed', language: 'fr' },
      home_page_url: 'https://books.example/',
      items: [
        {
          ...{ id: 'a', title: 'A', url: 'https://books.example/a', language: 'de' },
          ...{ external_url: 'https://elsewhere.example', date_modified: '2022-01-01' },
          ...{ date_published: '2021-09-06', authors: [{ name: 'Ana' }, { name: 'Ben' }] },
          tags: ['one', 'two'],
          attachments: [
            { url: 'https://books.example/a.cbz', mime_type: 'text/html', size_in_bytes: 7 },
          ],
        },
      ],
    }),
  }
  for (const [format, feed] of Object.entries(feeds)) {
    const { items, ...whole } = readFeed(Buffer.from(feed), null)
    const language = format === 'atom' ? null : 'fr'
    t.same(whole, { title: 'Feed', link: 'https://books.example/', language }, format)
    const file = { url: 'https://books.example/a.cbz', type: 'text/html', bytes: 7 }
    const item = {
      ...{ id: 'a', title: 'A', link: 'https://books.example/a', date: '2021-09-06' },
      ...{ author: 'Ana', language: 'de', categories: ['one', 'two'], infoHash: null },
    }
    t.same(items, [{ ...item, files: format === 'rss1' ? [] : [file] }], format)
  }
  t.end()
})

test('ids, pages, files and info hashes', t => {
  const { first: torrent } = read(
    rss(
      `<item><title>A v01</title><link>https://books.example/dl/1.torrent</link>
       <guid isPermaLink="true">https://books.example/view/1</guid>
       <nyaa:infoHash>${hash.toUpperCase()}</nyaa:infoHash></item>`,
    ),
  )
  t.match(torrent, {
    externalReleaseId: 'https://books.example/view/1',
    payloadUrl: 'https://books.example/view/1',
    mediaUrl: 'https://books.example/dl/1.torrent',
    infoHash: hash,
  })
  const magnet = `magnet:?xt=urn:btih:${base32}&amp;dn=a`
  const { first: linked } = read(rss(`<item><title>A v01</title><link>${magnet}</link></item>`))
  t.match(linked, { mediaUrlKind: 'magnet', infoHash: hash, payloadUrl: 'https://books.example/' })
  const { items } = read(
    rss(`<item><title>A v01</title><link>https://books.example/1.cbz</link></item>
      <item><title>B v01</title></item><item><link>https://books.example/3</link></item>
      <item><title>C v01</title><link>javascript:alert(1)</link><guid>x</guid></item>
      <item><title>D v01</title><link>https://books.example/4</link>
        <enclosure url="https://books.example/cover.jpg" type="image/jpeg" length="1"/></item>`),
  )
  t.match(items[0], { externalReleaseId: 'https://books.example/1.cbz', mediaUrlKind: 'direct' })
  t.match(items[1]!.externalReleaseId, /^sha256:[0-9a-f]{64}$/, 'of title and date')
  t.equal(items[2]!.payloadUrl, 'https://books.example/', 'scripts are no pages')
  t.equal(items[3]!.mediaUrl, null, 'a picture is no book')
  t.equal(items.length, 4)
  const twice = read(rss(rssItem(1) + rssItem(1)))
  t.equal(twice.items.length, 1, 'an id occurs once')
  t.end()
})

test('rules choose items and what is read of them', t => {
  const feed = rss(
    rssItem(1, 'NEW: [Nice] Blue Box c012 [EN]') +
      rssItem(2, 'NEW: Other Box c013 (RAW)') +
      rssItem(3, 'Site news'),
  )
  t.same(
    read(feed, { include: ['Box'], exclude: ['(?i)raw'] }).items.map(item => item.title),
    ['NEW: [Nice] Blue Box c012 [EN]'],
  )
  const { items, summary } = read(feed, {
    titlePattern: '^NEW: (?:\\[(?P<group>[^\\]]+)\\] )?(?P<title>.*)',
    language: 'de',
  })
  t.match(items, [
    { groupOrUploader: 'Nice', seriesTitles: ['Blue Box'], language: 'en' },
    { groupOrUploader: null, seriesTitles: ['Other Box'], language: 'ja' },
  ])
  t.match(summary, '1 excluded by the rules')
  const { first } = read(feed, { seriesTitle: 'My series', group: 'Us', titlePattern: 'c\\d+' })
  t.match(first, { seriesTitles: ['My series'], groupOrUploader: 'Us', language: null })
  t.same(first.chapters, [{ start: 12, end: 12 }])
  t.end()
})
