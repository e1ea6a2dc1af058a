// EPUBs over HTTP: manifests, resources and positions.
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { test } from 'tap'
import { hideSeries } from '../../kit/accounts.ts'
import { png } from '../../kit/files/archives.ts'
import { corpusPath, goldenFile } from '../../kit/files/corpus.ts'
import type { Client } from '../../kit/http/client.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { epub2, epubOf, font, item, mp3, page, refs, richEpub, xhtml } from '../../kit/opds/epub.ts'
import { schemaErrors } from '../../kit/opds/schemas.ts'
import { startApi } from '../../kit/server.ts'

const deep = (levels: number): string =>
  levels === 0 ? '' : `<ol><li><a href="a.xhtml">${levels}</a>${deep(levels - 1)}</li></ol>`
const epubWithNav = (nav: string): Buffer =>
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

const invalidBooks = {
  'empty.epub': epubOf({ manifest: '', spine: '' }),
  'no package.epub': Buffer.from(
    epubOf({ manifest: '', spine: '' }).toString('latin1').replaceAll('book.opf', 'book.xxx'),
    'latin1',
  ),
  'cut.epub': richEpub().subarray(0, 100),
}

// Too large for a buffered response, and compressed.
const music = Array.from({ length: 600_000 }, (_, i) => String(i).padStart(9, ' ')).join(' ')
const long = epubOf({
  manifest: item('a', 'a.xhtml', xhtml) + item('m', 'a.mp3', 'audio/mpeg'),
  spine: refs('a'),
  files: { 'OPS/a.xhtml': page('a'), 'OPS/a.mp3': music },
})

/** The same with a smaller declared size of its audio file. */
const wrongSize = Buffer.from(long)
const record = wrongSize.lastIndexOf('OPS/a.mp3') - 46
wrongSize.writeUInt32LE(5_000_000, record + 24)

const frankenstein = corpusPath('library/standardebooks__mary-shelley_frankenstein/src.epub', 84)
const kusamakura = corpusPath('library/IDPF__epub3-samples/kusamakura-preview.epub', 15)

test('reading EPUBs', async t => {
  const all = await startApi(t, { 'files.entry_mb': 8 })
  const library = await createTestLibrary(t, all, {
    'Rich/rich.epub': richEpub(),
    'Rich/older.epub': epub2(),
    ...(frankenstein && { 'Rich/frankenstein.epub': readFileSync(frankenstein) }),
    ...(kusamakura && { 'Rich/kusamakura.epub': readFileSync(kusamakura) }),
    'Rich/drm.epub': goldenFile('epub/drm-adept.epub'),
    'Rich/traversal.epub': goldenFile('epub/href-traversal.epub'),
    'Rich/fixed.epub': goldenFile('epub/fixed-layout.epub'),
    'Rich/deep.epub': epubWithNav(deep(200)),
    'Rich/many.epub': epubWithNav(many),
    'Rich/entities.epub': epubWithNav(`${entities}<ol><li><a href="a.xhtml">&b;&c;</a></li></ol>`),
    'Rich/big.epub': epubOf({
      manifest: item('a', 'a.xhtml', xhtml) + item('big', 'big.css', 'text/css'),
      spine: refs('a'),
      files: { 'OPS/a.xhtml': page('a'), 'OPS/big.css': 'a'.repeat(9_000_000) },
    }),
    'Rich/long.epub': long,
    'Rich/wrong-size.epub': wrongSize,
    ...Object.fromEntries(
      Object.entries(invalidBooks).map(([name, bytes]) => [`Invalid/${name}`, bytes]),
    ),
    'Comic/comic.cbz': comic({ pages: 3 }),
  })
  await library.scan()
  const reader = await all.createUser('reader')
  const bookPath = async (name: string) => `/opds/v2/books/${(await library.book(name)).id}`
  const manifestOf = async (name: string, client: Client = reader) => {
    const path = `${await bookPath(name)}/manifest/epub`
    const { status, body, headers } = await client.get(path)
    t.equal(status, 200, `${path} of ${name}`)
    t.match(headers.get('content-type'), /^application\/webpub\+json\b/)
    t.same(schemaErrors('manifest', body), [], `the manifest of ${name} is valid`)
    return body
  }
  const pathOf = (href: string) => href.replace(all.base, '')

  await t.test('a manifest lists reading order, resources and navigation', async t => {
    const manifest = await manifestOf('rich.epub')
    const root = `${all.base}${await bookPath('rich.epub')}/resource/OPS/`
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
      'Text/note.xhtml',
    ])
    t.same(manifest.readingOrder[0].properties, { contains: ['js'] })
    t.same(hrefs(manifest.resources.slice(1)), [
      'nav.xhtml',
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
      (await reader.get(`${await bookPath('rich.epub')}/manifest`)).body,
      manifest,
      'the same document at /manifest',
    )
  })

  await t.test('the navigation of an EPUB 2 comes from its NCX and guide', async t => {
    const manifest = await manifestOf('older.epub')
    t.match(manifest.toc, [
      { title: 'First chapter', children: [{ title: 'Within', href: /a\.html#x$/ }] },
    ])
    t.match(manifest.landmarks, [{ title: 'text', href: /b\.html$/ }])
    t.match(manifest.pageList, [{ title: '1', href: /b\.html#p1$/ }])
  })

  await t.test(
    'manifests of real books are complete, and every link returns its media type',
    async t => {
      for (const [name, spine, title] of [
        ...(frankenstein ? [['frankenstein.epub', 38, 'Titlepage'] as const] : []),
        ...(kusamakura ? [['kusamakura.epub', 2, '一'] as const] : []),
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
        const linear = new Set(manifest.readingOrder.map((link: { href: string }) => link.href))
        t.ok(
          toc.some(({ href }: { href: string }) => linear.has(href.split('#')[0]!)),
          name,
        )
      }
      t.equal((await manifestOf('fixed.epub')).metadata.layout, 'fixed')
    },
  )

  await t.test('resources have their media types and a restrictive policy', async t => {
    const root = `${await bookPath('rich.epub')}/resource/OPS/`
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

  await t.test('entries that are not in the manifest are not found', async t => {
    const root = `${await bookPath('rich.epub')}/resource/`
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
    t.equal((await reader.get(`${await bookPath('comic.cbz')}/resource/1.png`)).status, 404)
    t.equal((await reader.get(`${await bookPath('comic.cbz')}/manifest/epub`)).status, 404)
  })

  await t.test('DRM-protected data is sent unchanged, obfuscated fonts are decoded', async t => {
    const root = `${await bookPath('rich.epub')}/resource/OPS/`
    const locked = await reader.get(`${root}locked.png`)
    t.equal(locked.status, 200)
    t.same(locked.bytes, png(4))
    t.same((await reader.get(`${root}a.otf`)).bytes, font)
    const drm = await manifestOf('drm.epub')
    const encrypted = drm.readingOrder.filter((link: any) => link.properties?.encrypted)
    t.ok(encrypted.length > 0)
    t.equal((await reader.get(pathOf(encrypted[0].href))).status, 200)
  })

  await t.test('resources have ETags, and audio supports ranges', async t => {
    const css = `${await bookPath('rich.epub')}/resource/OPS/Styles/100%25.css`
    const etag = (await reader.get(css)).headers.get('etag')!
    t.equal((await reader.get(css, { headers: { 'if-none-match': etag } })).status, 304)
    t.equal((await reader.get(css, { headers: { 'if-none-match': '"x"' } })).status, 200)
    const any = { headers: { 'if-none-match': '*' } }
    t.equal((await reader.get(css, any)).status, 304)
    t.equal((await reader.get(`${css}.gone`, any)).status, 404)
    const audio = `${await bookPath('rich.epub')}/resource/OPS/a.mp3`
    const head = await reader.request('HEAD', audio)
    t.same(
      [head.status, head.headers.get('content-length'), head.headers.get('accept-ranges')],
      [200, '5000', 'bytes'],
    )
    const range = await reader.get(audio, { headers: { range: 'bytes=10-19' } })
    t.same([range.status, range.headers.get('content-range')], [206, 'bytes 10-19/5000'])
    t.same(range.bytes, mp3.subarray(10, 20))
    t.equal((await reader.get(audio, { headers: { range: 'bytes=9000-' } })).status, 416)
  })

  await t.test('large resources are streamed, and limited to their declared size', async t => {
    const path = `${await bookPath('long.epub')}/resource/OPS/a.mp3`
    t.ok((await reader.get(path)).bytes.equals(Buffer.from(music)))
    const range = await reader.get(path, { headers: { range: 'bytes=4500000-4500009' } })
    t.same([range.status, range.bytes.toString()], [206, music.slice(4_500_000, 4_500_010)])
    const last = await reader.get(path, { headers: { range: 'bytes=-5' } })
    t.same([last.status, last.bytes.toString()], [206, music.slice(-5)])
    t.equal(
      (await reader.request('HEAD', path)).headers.get('content-length'),
      String(music.length),
    )
    await t.rejects(
      reader.get(`${await bookPath('wrong-size.epub')}/resource/OPS/a.mp3`),
      'the response is aborted',
    )
    t.equal((await reader.get(path)).status, 200, 'and the server continues')
  })

  await t.test('positions are counted like in Readium', async t => {
    const { status, body, headers } = await reader.get(`${await bookPath('rich.epub')}/positions`)
    t.equal(status, 200)
    t.match(headers.get('content-type'), /^application\/vnd\.readium\.position-list\+json\b/)
    t.equal(body.total, 6)
    t.same(
      body.positions.map((position: any) => [
        position.href.slice(-14),
        position.type,
        position.locations,
      ]),
      [
        ['%20two.xhtml', xhtml, { progression: 0, position: 1, totalProgression: 0 }],
        ['%20two.xhtml', xhtml, { progression: 0.333333, position: 2, totalProgression: 0.166667 }],
        ['%20two.xhtml', xhtml, { progression: 0.666667, position: 3, totalProgression: 0.333333 }],
        ['%9C%AC.xhtml', xhtml, { progression: 0, position: 4, totalProgression: 0.5 }],
        ['%9C%AC.xhtml', xhtml, { progression: 0.5, position: 5, totalProgression: 0.666667 }],
        ['t/note.xhtml', xhtml, { progression: 0, position: 6, totalProgression: 0.833333 }],
      ].map(([href, ...rest]) => [
        body.positions.find((position: any) => position.href.endsWith(href)).href.slice(-14),
        ...rest,
      ]),
    )
    if (frankenstein)
      t.equal(
        (await reader.get(`${await bookPath('frankenstein.epub')}/positions`)).body.total,
        491,
      )
    const comicPath = await bookPath('comic.cbz')
    const pages = await reader.get(`${comicPath}/positions`)
    t.match(pages.body, {
      total: 3,
      positions: [1, 2, 3].map(position => ({
        href: `${all.base}${comicPath}/pages/${position}`,
        type: 'image/png',
        locations: { position },
      })),
    })
    const etag = pages.headers.get('etag')!
    t.equal(
      (await reader.get(`${comicPath}/positions`, { headers: { 'if-none-match': etag } })).status,
      304,
    )
  })

  await t.test('hostile books are read within limits or rejected with a message', async t => {
    const depth = (links: any[] = []): number =>
      links.length === 0 ? 0 : 1 + depth(links[0].children)
    const levels = depth((await manifestOf('deep.epub')).toc)
    t.ok(levels > 10 && levels < 40, `${levels} levels`)
    const { toc } = await manifestOf('many.epub')
    t.ok(toc.length > 1000 && toc.length <= 20_000, `${toc.length} entries`)
    t.notMatch(JSON.stringify((await manifestOf('entities.epub')).toc), /root:/)
    for (const name of Object.keys(invalidBooks)) {
      for (const path of ['manifest/epub', 'positions']) {
        const { status, body } = await reader.get(`${await bookPath(name)}/${path}`)
        t.ok(status === 422 || status === 404, `${name} ${path}: ${status}`)
        t.match(body.message, /^[A-Z].{5,}$/)
      }
    }
    const big = `${await bookPath('big.epub')}/resource/OPS/big.css`
    const refused = await reader.get(big)
    t.match([refused.status, refused.body.details.code], [422, 'too_large'])
  })

  await t.test('hidden books are not found, and pages require a permission', async t => {
    const restricted = await all.createUser('reader')
    const book = await library.book('rich.epub')
    await hideSeries(all.sql, restricted.id, [book.seriesId])
    const path = await bookPath('rich.epub')
    for (const more of ['manifest/epub', 'positions', 'resource/OPS/nav.xhtml', 'resource/nothing'])
      t.equal((await restricted.get(`${path}/${more}`)).status, 404, more)
    t.equal((await all.anonymous.get(`${path}/resource/OPS/nav.xhtml`)).status, 401)
    const limited = await all.createUser('reader')
    await all.sql`update api_key set permissions = '{BooksRead}' where account_id = ${limited.id}`
    for (const more of ['manifest/epub', 'positions', 'resource/OPS/nav.xhtml'])
      t.equal((await limited.get(`${path}/${more}`)).status, 403, more)
  })

  await t.test('a replaced file is read again', async t => {
    t.equal((await manifestOf('older.epub')).readingOrder.length, 2)
    const replacement = epubOf({
      manifest: item('a', 'other.xhtml', xhtml),
      spine: refs('a'),
      files: { 'OPS/other.xhtml': page('other') },
    })
    library.write('Rich/older.epub', replacement)
    t.match((await manifestOf('older.epub')).readingOrder, [{ href: /other\.xhtml$/ }])
    const other = `${await bookPath('older.epub')}/resource/OPS/other.xhtml`
    t.match((await reader.get(other)).bytes.toString(), 'other')
  })

  await t.test('path traversal in a raw request target', async t => {
    const { hostname, port } = new URL(all.base)
    const path = `${await bookPath('rich.epub')}/resource/OPS/Text/../../META-INF/container.xml`
    const status = await new Promise(resolve => {
      const headers = { 'x-api-key': reader.key }
      request({ hostname, port, path, headers }, response =>
        resolve(response.resume().statusCode),
      ).end()
    })
    t.equal(status, 404, 'dot segments not removed by the client')
  })
})
