// Both catalogues through a real nginx, below a path: every link is followed, as it was written.
import { test } from 'tap'
import { comic, shelve } from '../kit/library.ts'
import { freePort, nginx, startNginx } from '../kit/nginx.ts'
import { crawl } from '../kit/opds/crawl.ts'
import { serve } from '../kit/server.ts'

const books = {
  'Alpha/1.cbz': comic({ pages: 3 }),
  'Alpha/#2 100% & "Käse" <é> 図書 ?.cbz': comic({ pages: 2 }),
  "Bet[a]; it's +1 ~ {x}/a%2Fb \u{1F4DA} %7Bz%7D.cbz": comic({ pages: 1 }),
}

test('behind nginx', { skip: nginx ? false : 'no nginx here' }, async t => {
  const all = await serve(t)
  const shelf = await shelve(t, all, books)
  await shelf.scan()
  const { key, id } = await all.as('reader')
  const [book] = await shelf.books()
  await all.sql`insert into progress (account_id, book_id, current_page) values (${id}, ${book!.id}, 1)`
  const port = await freePort()
  const [stripped, left] = [`http://127.0.0.1:${port}/shelf`, `http://127.0.0.1:${port}/my/books`]
  const quiet = { 'rate_limit.enabled': false }
  const behind = {
    stripped: await all.another({
      settings: { ...quiet, 'application.trusted_proxies': 'loopback' },
    }),
    left: await all.another({ settings: { ...quiet, 'application.public_url': left } }),
  }
  await startNginx(t, {
    port,
    locations: `
      location /shelf/ {
        proxy_pass ${behind.stripped.base}/;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_set_header X-Forwarded-Host $http_host;
        proxy_set_header X-Forwarded-Prefix /shelf;
        proxy_set_header X-Forwarded-For $remote_addr;
      }
      location /my/books/ { proxy_pass ${behind.left.base}; }`,
  })
  for (const [name, base] of Object.entries({
    'the prefix is stripped and told in a header': stripped,
    'the prefix is left and configured': left,
  }))
    await t.test(name, async t => {
      const headers = { 'x-api-key': key }
      const { links, wrong } = await crawl({ base, headers, most: 400 })
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
