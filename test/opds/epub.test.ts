// EPUBs as reading apps take them apart: manifests, resources and positions over HTTP.
import { request } from 'node:http'
import { test } from 'tap'
import { png } from '../archive/archive-files.ts'
import { comic, shelve } from '../kit/library.ts'
import {
  corpusFile,
  epubOf,
  font,
  item,
  older,
  page,
  refs,
  rich,
  sound,
  xhtml,
} from '../kit/opds/epub.ts'
import { schemaErrors } from '../kit/opds/schemas.ts'
import { type Client, serve } from '../kit/server.ts'
import { hide } from '../kit/walk.ts'

const deep = (levels: number): string =>
  levels === 0 ? '' : `<ol><li><a href="a.xhtml">${levels}</a>${deep(levels - 1)}</li></ol>`
const listed = (nav: string): Buffer =>
  epubOf({
    manifest: item('nav', 'nav.xhtml', xhtml, 'nav') + item('a', 'a.xhtml', xhtml),
    spine: refs('a'),
    files: {
      'OPS/nav.xhtml': `<html xmlns:epub="e"><nav epub:type="toc">${nav}</nav></html>`,
      'OPS/a.xhtml': page('a'),
    },
  })
const many = `<ol>${'<li><a href="a.xhtml">x</a></li>'.repeat(60_000)}</ol>`
const entities = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>`

const ruined = {
  'empty.epub': epubOf({ manifest: '', spine: '' }),
  'no package.epub': Buffer.from(
    epubOf({ manifest: '', spine: '' }).toString('latin1').replaceAll('book.opf', 'book.xxx'),
    'latin1',
  ),
  'cut.epub': rich().subarray(0, 100),
}

// Too long to be held in memory, and packed.
const music = Array.from({ length: 600_000 }, (_, i) => String(i).padStart(9, ' ')).join(' ')
const long = epubOf({
  manifest: item('a', 'a.xhtml', xhtml) + item('m', 'a.mp3', 'audio/mpeg'),
  spine: refs('a'),
  files: { 'OPS/a.xhtml': page('a'), 'OPS/a.mp3': music },
})

/** The same, that says of its sound that it is shorter. */
const liar = Buffer.from(long)
const record = liar.lastIndexOf('OPS/a.mp3') - 46
liar.writeUInt32LE(5_000_000, record + 24)

test('reading EPUBs', async t => {
  const all = await serve(t, { 'files.entry_mb': 8 })
  const shelf = await shelve(t, all, {
    'Rich/rich.epub': rich(),
    'Rich/older.epub': older(),
    'Rich/frankenstein.epub': corpusFile('standardebooks__mary-shelley_frankenstein/src.epub'),
    'Rich/kusamakura.epub': corpusFile('IDPF__epub3-samples/kusamakura-preview.epub'),
    'Rich/drm.epub': corpusFile('generated-hostile/epub/drm-adept.epub'),
    'Rich/traversal.epub': corpusFile('generated-hostile/epub/href-traversal.epub'),
    'Rich/fixed.epub': corpusFile('generated-hostile/epub/fixed-layout.epub'),
    'Rich/deep.epub': listed(deep(200)),
    'Rich/many.epub': listed(many),
    'Rich/entities.epub': listed(`${entities}<ol><li><a href="a.xhtml">&b;&c;</a></li></ol>`),
    'Rich/big.epub': epubOf({
      manifest: item('a', 'a.xhtml', xhtml) + item('big', 'big.css', 'text/css'),
      spine: refs('a'),
      files: { 'OPS/a.xhtml': page('a'), 'OPS/big.css': 'a'.repeat(9_000_000) },
    }),
    'Rich/long.epub': long,
    'Rich/liar.epub': liar,
    ...Object.fromEntries(Object.entries(ruined).map(([name, bytes]) => [`Ruined/${name}`, bytes])),
    'Comic/comic.cbz': comic({ pages: 3 }),
  })
  await shelf.scan()
  const reader = await all.as('reader')
  const at = async (name: string) => `/opds/v2/books/${(await shelf.book(name)).id}`
  const manifestOf = async (name: string, client: Client = reader) => {
    const path = `${await at(name)}/manifest/epub`
    const { status, body, headers } = await client.get(path)
    t.equal(status, 200, `${path} of ${name}`)
    t.match(headers.get('content-type'), /^application\/webpub\+json\b/)
    t.same(schemaErrors('manifest', body), [], `the manifest of ${name} is valid`)
    return body
  }
  const pathOf = (href: string) => href.replace(all.base, '')

  await t.test('a manifest tells what is read, what else there is, and the ways in', async t => {
    const manifest = await manifestOf('rich.epub')
    const root = `${all.base}${await at('rich.epub')}/resource/OPS/`
    const hrefs = (links: { href: string }[]) => links.map(({ href }) => href.replace(root, ''))
    t.equal(manifest['@context'], 'https://readium.org/webpub-manifest/context.jsonld')
    t.match(manifest.metadata, {
      title: /Everything/,
      conformsTo: 'https://readium.org/webpub-manifest/profiles/epub',
      layout: 'reflowable',
    })
    t.same(hrefs(manifest.readingOrder), [
      'Text/one%20%26%20two.xhtml',
      'Text/%E6%97%A5%E6%9C%AC.xhtml',
    ])
    t.same(manifest.readingOrder[0].properties, { contains: ['js'] })
    t.same(hrefs(manifest.resources.slice(1)), [
      'nav.xhtml',
      'Text/note.xhtml',
      'Styles/100%25.css',
      'run.js',
      'old.html',
      'setup.exe',
      'caf%C3%A9.png',
      'a.otf',
      'locked.png',
      'a.mp3',
    ])
    t.match(manifest.resources[0], { rel: 'cover', type: 'image/jpeg' })
    t.same(
      manifest.resources.find((link: { href: string }) => link.href.endsWith('locked.png'))
        .properties,
      { encrypted: { algorithm: 'http://www.w3.org/2001/04/xmlenc#aes256-cbc' } },
    )
    const tree = (links: any[]): unknown =>
      links.map(link => [
        link.title,
        link.href.replace(root, ''),
        ...(link.children ? [tree(link.children)] : []),
      ])
    t.same(tree(manifest.toc), [
      [
        'One & two',
        'Text/one%20%26%20two.xhtml',
        [['Inner', 'Text/one%20%26%20two.xhtml#p%C3%A9']],
      ],
      ['A part', 'Text/%E6%97%A5%E6%9C%AC.xhtml', [['日本', 'Text/%E6%97%A5%E6%9C%AC.xhtml']]],
    ])
    t.match(manifest.landmarks, [{ title: 'Start', rel: 'bodymatter' }])
    t.same(tree(manifest.pageList), [['7', 'Text/%E6%97%A5%E6%9C%AC.xhtml#p7']])
    const rels = manifest.links.map((link: { rel: string }) => link.rel)
    t.same(rels, [
      'self',
      'alternate',
      'http://readium.org/position-list',
      'http://www.cantook.com/api/progression',
    ])
    t.same(
      (await reader.get(`${await at('rich.epub')}/manifest`)).body,
      manifest,
      'the same at /manifest',
    )
  })

  await t.test('an EPUB 2 is led into by its NCX and its guide', async t => {
    const manifest = await manifestOf('older.epub')
    t.match(manifest.toc, [
      { title: 'First chapter', children: [{ title: 'Within', href: /a\.html#x$/ }] },
    ])
    t.match(manifest.landmarks, [{ title: 'text', href: /b\.html$/ }])
    t.match(manifest.pageList, [{ title: '1', href: /b\.html#p1$/ }])
  })

  await t.test(
    'real books are listed whole, and every address answers what it promises',
    async t => {
      for (const [name, spine, title] of [
        ['frankenstein.epub', 38, 'Titlepage'],
        ['kusamakura.epub', 2, '一'],
        ['traversal.epub', 1, 'One'],
        ['fixed.epub', 3, ''],
      ] as const) {
        const manifest = await manifestOf(name)
        if (title !== '') t.equal(manifest.toc[0].title, title)
        t.ok(manifest.readingOrder.length >= spine || name === 'fixed.epub', name)
        for (const { href, type } of [...manifest.readingOrder, ...manifest.resources]) {
          t.ok(href.startsWith(`${all.base}/opds/v2/books/`))
          const { status, headers } = await reader.get(pathOf(href))
          t.equal(status, 200, href)
          t.equal(headers.get('content-type'), type, href)
        }
        const toc = manifest.toc.flatMap((link: any) => [link, ...(link.children ?? [])])
        const known = new Set(manifest.readingOrder.map((link: { href: string }) => link.href))
        t.ok(
          toc.some(({ href }: { href: string }) => known.has(href.split('#')[0]!)),
          name,
        )
      }
      t.equal((await manifestOf('fixed.epub')).metadata.layout, 'fixed')
    },
  )

  await t.test('resources come with their types, confined', async t => {
    const root = `${await at('rich.epub')}/resource/OPS/`
    for (const [name = '', type] of [
      ['Text/one%20%26%20two.xhtml', xhtml],
      ['Text/one%20&%20two.xhtml', xhtml],
      ['Text/日本.xhtml', xhtml],
      ['Styles/100%25.css', 'text/css'],
      ['run.js', 'text/plain'],
      ['old.html', 'text/html'],
      ['setup.exe', 'application/octet-stream'],
      ['caf%C3%A9.png', 'image/png'],
      ['cafe%CC%81.png', 'image/png'],
      ['TEXT/NOTE.xhtml', xhtml],
    ]) {
      const { status, headers } = await reader.get(root + name)
      t.equal(status, 200, name)
      t.equal(headers.get('content-type'), type, name)
      t.equal(headers.get('x-content-type-options'), 'nosniff')
      const policy = headers.get('content-security-policy')!.split('; ')
      for (const rule of [
        "default-src 'none'",
        "script-src 'none'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
      ])
        t.ok(policy.includes(rule), rule)
      const sandbox = policy.find(rule => rule.startsWith('sandbox'))
      t.ok(sandbox)
      t.notMatch(sandbox, 'allow-scripts')
    }
    t.match((await reader.get(`${root}Styles/100%25.css`)).bytes.toString(), 'color: red')
  })

  await t.test('what the manifest does not list is not there', async t => {
    const root = `${await at('rich.epub')}/resource/`
    for (const name of [
      'OPS/unlisted.xhtml',
      'OPS/gone.xhtml',
      'META-INF/container.xml',
      'META-INF/encryption.xml',
      'mimetype',
      'OPS/book.opf',
      'OPS/..%2FMETA-INF%2Fcontainer.xml',
      '..%2f..%2f..%2fetc%2fpasswd',
      '%2e%2e%2f%2e%2e%2fetc/passwd',
      '/etc/passwd',
      'OPS/Text/one%20%26%20two.xhtml%00',
      'OPS/Text',
      '__proto__',
      'constructor',
    ])
      t.equal((await reader.get(root + name)).status, 404, name)
    t.equal((await reader.get(`${root}OPS/%zz`)).status, 400)
    t.equal((await reader.get(`${await at('comic.cbz')}/resource/1.png`)).status, 404)
    t.equal((await reader.get(`${await at('comic.cbz')}/manifest/epub`)).status, 404)
  })

  await t.test(
    'what only a licence opens is sent as it is, what is merely hidden is shown',
    async t => {
      const root = `${await at('rich.epub')}/resource/OPS/`
      const locked = await reader.get(`${root}locked.png`)
      t.equal(locked.status, 200)
      t.same(locked.bytes, png(4))
      t.same((await reader.get(`${root}a.otf`)).bytes, font)
      const drm = await manifestOf('drm.epub')
      const marked = drm.readingOrder.filter((link: any) => link.properties?.encrypted)
      t.ok(marked.length > 0)
      t.equal((await reader.get(pathOf(marked[0].href))).status, 200)
    },
  )

  await t.test('tags save sending a resource again, and sounds come in parts', async t => {
    const css = `${await at('rich.epub')}/resource/OPS/Styles/100%25.css`
    const tag = (await reader.get(css)).headers.get('etag')!
    t.equal((await reader.get(css, { headers: { 'if-none-match': tag } })).status, 304)
    t.equal((await reader.get(css, { headers: { 'if-none-match': '"x"' } })).status, 200)
    const any = { headers: { 'if-none-match': '*' } }
    t.equal((await reader.get(css, any)).status, 304)
    t.equal((await reader.get(`${css}.gone`, any)).status, 404)
    const mp3 = `${await at('rich.epub')}/resource/OPS/a.mp3`
    const head = await reader.ask('HEAD', mp3)
    t.same(
      [head.status, head.headers.get('content-length'), head.headers.get('accept-ranges')],
      [200, '5000', 'bytes'],
    )
    const some = await reader.get(mp3, { headers: { range: 'bytes=10-19' } })
    t.same([some.status, some.headers.get('content-range')], [206, 'bytes 10-19/5000'])
    t.same(some.bytes, sound.subarray(10, 20))
    t.equal((await reader.get(mp3, { headers: { range: 'bytes=9000-' } })).status, 416)
  })

  await t.test(
    'long resources are sent as they are unpacked, and never more than was said',
    async t => {
      const path = `${await at('long.epub')}/resource/OPS/a.mp3`
      t.ok((await reader.get(path)).bytes.equals(Buffer.from(music)))
      const some = await reader.get(path, { headers: { range: 'bytes=4500000-4500009' } })
      t.same([some.status, some.bytes.toString()], [206, music.slice(4_500_000, 4_500_010)])
      const last = await reader.get(path, { headers: { range: 'bytes=-5' } })
      t.same([last.status, last.bytes.toString()], [206, music.slice(-5)])
      t.equal((await reader.ask('HEAD', path)).headers.get('content-length'), String(music.length))
      await t.rejects(reader.get(`${await at('liar.epub')}/resource/OPS/a.mp3`), 'it breaks off')
      t.equal((await reader.get(path)).status, 200, 'and the server goes on')
    },
  )

  await t.test('positions are counted as Readium does', async t => {
    const { status, body, headers } = await reader.get(`${await at('rich.epub')}/positions`)
    t.equal(status, 200)
    t.match(headers.get('content-type'), /^application\/vnd\.readium\.position-list\+json\b/)
    t.equal(body.total, 5)
    t.same(
      body.positions.map((p: any) => [p.href.slice(-14), p.type, p.locations]),
      [
        ['%20two.xhtml', xhtml, { progression: 0, position: 1, totalProgression: 0 }],
        ['%20two.xhtml', xhtml, { progression: 0.333333, position: 2, totalProgression: 0.2 }],
        ['%20two.xhtml', xhtml, { progression: 0.666667, position: 3, totalProgression: 0.4 }],
        ['%9C%AC.xhtml', xhtml, { progression: 0, position: 4, totalProgression: 0.6 }],
        ['%9C%AC.xhtml', xhtml, { progression: 0.5, position: 5, totalProgression: 0.8 }],
      ].map(([href, ...rest]) => [
        body.positions.find((p: any) => p.href.endsWith(href)).href.slice(-14),
        ...rest,
      ]),
    )
    t.equal((await reader.get(`${await at('frankenstein.epub')}/positions`)).body.total, 491)
    const comicPath = await at('comic.cbz')
    const pages = await reader.get(`${comicPath}/positions`)
    t.match(pages.body, {
      total: 3,
      positions: [1, 2, 3].map(position => ({
        href: `${all.base}${comicPath}/pages/${position}`,
        type: 'image/png',
        locations: { position },
      })),
    })
    const tag = pages.headers.get('etag')!
    t.equal(
      (await reader.get(`${comicPath}/positions`, { headers: { 'if-none-match': tag } })).status,
      304,
    )
  })

  await t.test('hostile books are listed within bounds or refused in words', async t => {
    const depth = (links: any[] = []): number =>
      links.length === 0 ? 0 : 1 + depth(links[0].children)
    const levels = depth((await manifestOf('deep.epub')).toc)
    t.ok(levels > 10 && levels < 40, `${levels} levels`)
    const { toc } = await manifestOf('many.epub')
    t.ok(toc.length > 1000 && toc.length <= 20_000, `${toc.length} entries`)
    t.notMatch(JSON.stringify((await manifestOf('entities.epub')).toc), /root:/)
    for (const name of Object.keys(ruined)) {
      for (const path of ['manifest/epub', 'positions']) {
        const { status, body } = await reader.get(`${await at(name)}/${path}`)
        t.ok(status === 422 || status === 404, `${name} ${path}: ${status}`)
        t.match(body.message, /^[A-Z].{5,}$/)
      }
    }
    const big = `${await at('big.epub')}/resource/OPS/big.css`
    const refused = await reader.get(big)
    t.match([refused.status, refused.body.details.code], [422, 'too_large'])
  })

  await t.test('hidden books have none of it, and pages may be withheld', async t => {
    const restricted = await all.as('reader')
    const book = await shelf.book('rich.epub')
    await hide(all.sql, restricted.id, [book.seriesId])
    const path = await at('rich.epub')
    for (const more of ['manifest/epub', 'positions', 'resource/OPS/nav.xhtml', 'resource/nothing'])
      t.equal((await restricted.get(`${path}/${more}`)).status, 404, more)
    t.equal((await all.anyone.get(`${path}/resource/OPS/nav.xhtml`)).status, 401)
    const lent = await all.as('reader')
    await all.sql`update api_key set permissions = '{BooksRead}' where account_id = ${lent.id}`
    for (const more of ['manifest/epub', 'positions', 'resource/OPS/nav.xhtml'])
      t.equal((await lent.get(`${path}/${more}`)).status, 403, more)
  })

  await t.test('a file that is exchanged is read anew', async t => {
    t.equal((await manifestOf('older.epub')).readingOrder.length, 2)
    const css = epubOf({
      manifest: item('a', 'other.xhtml', xhtml),
      spine: refs('a'),
      files: { 'OPS/other.xhtml': page('other') },
    })
    shelf.write('Rich/older.epub', css)
    t.match((await manifestOf('older.epub')).readingOrder, [{ href: /other\.xhtml$/ }])
    const other = `${await at('older.epub')}/resource/OPS/other.xhtml`
    t.match((await reader.get(other)).bytes.toString(), 'other')
  })

  await t.test('an app that asks as a browser does not gets it too', async t => {
    const { hostname, port } = new URL(all.base)
    const path = `${await at('rich.epub')}/resource/OPS/Text/../../META-INF/container.xml`
    const status = await new Promise(resolve => {
      const headers = { 'x-api-key': reader.key }
      request({ hostname, port, path, headers }, answer =>
        resolve(answer.resume().statusCode),
      ).end()
    })
    t.equal(status, 404, 'dots that no client took away')
  })
})
