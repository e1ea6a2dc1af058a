// Both OPDS catalogs behind a real nginx with a path prefix: every link is followed as written.
import { test } from 'tap'
import { nginxPath, startNginx } from '../../kit/http/nginx.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { crawl } from '../../kit/opds/crawl.ts'
import { freePort } from '../../kit/ports.ts'
import { startApi } from '../../kit/server.ts'

const books = {
  'Alpha/1.cbz': comic({ pages: 3 }),
  'Alpha/#2 100% & "Käse" <é> 図書 ?.cbz': comic({ pages: 2 }),
  "Bet[a]; it's +1 ~ {x}/a%2Fb \u{1F4DA} %7Bz%7D.cbz": comic({ pages: 1 }),
}

test('behind nginx', { skip: nginxPath ? false : 'nginx is not installed' }, async t => {
  const all = await startApi(t)
  const library = await createTestLibrary(t, all, books)
  await library.scan()
  const { key, id } = await all.createUser('reader')
  const [book] = await library.books()
  await all.sql`insert into progress (account_id, book_id, current_page) values (${id}, ${book!.id}, 1)`
  const port = await freePort()
  const [stripped, preserved] = [
    `http://127.0.0.1:${port}/library`,
    `http://127.0.0.1:${port}/my/books`,
  ]
  const noRateLimit = { 'rate_limit.enabled': false }
  const behind = {
    stripped: await all.startAnother({
      settings: { ...noRateLimit, 'application.trusted_proxies': 'loopback' },
    }),
    preserved: await all.startAnother({
      settings: { ...noRateLimit, 'application.public_url': preserved },
    }),
  }
  await startNginx(t, {
    port,
    locations: `
      location /library/ {
        proxy_pass ${behind.stripped.base}/;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_set_header X-Forwarded-Host $http_host;
        proxy_set_header X-Forwarded-Prefix /library;
        proxy_set_header X-Forwarded-For $remote_addr;
      }
      location /my/books/ { proxy_pass ${behind.preserved.base}; }`,
  })
  for (const [name, base] of Object.entries({
    'the prefix is stripped and sent in a header': stripped,
    'the prefix is preserved and configured': preserved,
  }))
    await t.test(name, async t => {
      const headers = { 'x-api-key': key }
      const { links, problems: wrong } = await crawl({ base, headers, maxLinks: 400 })
      t.same(wrong, [])
      t.ok(links.document > 30, JSON.stringify(links))
      t.ok(links.image >= 6 && links.file >= 3 && links.stream >= 3, JSON.stringify(links))
      const list = await fetch(`${base}/api/v1/books?pageSize=1`, { headers })
      const { links: pages } = (await list.json()) as { links: Record<string, string> }
      t.ok(pages.next!.startsWith(`${new URL(base).pathname}/api/v1/books?`))
      t.equal((await fetch(new URL(pages.next!, base), { headers })).status, 200)
      for (const path of ['/health', '/opds', '/opds-comics', '/opds/v1.2/catalog', '/opds/v2.0'])
        t.equal((await fetch(base + path, { headers })).status, 200, path)
    })
})
