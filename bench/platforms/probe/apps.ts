// Checks of the APIs for reading apps: OPDS 1.2 and 2.0, Komga, KOReader.
import { createHash } from 'node:crypto'
import type { Book } from './catalog.ts'
import { type Checks, expectEqual, expectTrue } from './checks.ts'
import { basic, type Client, createClient, poll } from './client.ts'
import { account, expected } from './expected.ts'

type Link = { rel?: string | string[]; href: string; type?: string }

export async function checkApps({ check }: Checks, client: Client, books: readonly Book[]) {
  const app = createClient(client.base, basic(account.username, account.password))
  await check('OPDS 1.2', async () => {
    const root = await app.text('/opds')
    const hrefs = [...root.matchAll(/<link[^>]*href="([^"]+)"[^>]*>/g)]
      .filter(([link]) => link.includes('kind='))
      .map(([, href]) => href!.replaceAll('&amp;', '&'))
    expectTrue(hrefs.length > 3, 'the catalog has no feeds')
    const feeds = await Promise.all(hrefs.map(href => app.text(pathOf(app, href))))
    expectTrue(
      feeds.every(feed => feed.includes('<feed')),
      'a link leads to no feed',
    )
    expectTrue(
      feeds.some(feed => feed.includes('<entry>')),
      'no feed has an entry',
    )
  })
  await check('OPDS 2.0', async () => {
    const root = await app.json('/opds/v2')
    const links: Link[] = [...root.navigation, ...(root.links ?? [])]
    const feeds = links.filter(link => link.type === 'application/opds+json' && link.href)
    expectTrue(feeds.length > 3, 'the catalog has no feeds')
    for (const { href } of feeds) {
      const { metadata } = await app.json(pathOf(app, href))
      expectTrue(typeof metadata?.title === 'string', `${href} has no title`)
    }
  })
  await check('Komga API', async () => {
    const setting = '/api/v1/admin/settings/komga.enabled'
    await client.send(setting, { method: 'PUT', body: { value: true } })
    const list = () => app.json('/komga/api/v1/books?size=100')
    const { content } = await poll(10, list)
    expectEqual(content.length, expected.books, 'number of books')
    const saga = content.find(({ name }: { name: string }) => name === 'Saga 01')
    expectTrue(saga !== undefined, 'Saga 01 is missing')
    const { type } = await app.send(`/komga/api/v1/books/${saga.id}/pages/1`)
    expectEqual(type, 'image/jpeg', 'type of a page')
  })
  await check('KOReader sync', async () => {
    const { key } = await client.json('/api/v1/api-keys', { body: { name: 'tablet' }, status: 201 })
    const headers = { 'x-auth-user': account.username, 'x-auth-key': md5(key) }
    const device = createClient(`${client.base}/koreader`, headers)
    expectEqual((await device.json('/users/auth')).authorized, 'OK', 'authorized')
    const document = md5('Saga 02.cbz')
    const position = { document, progress: '2', percentage: 0.5, device: 'Tablet', device_id: 'T1' }
    await device.send('/syncs/progress', { method: 'PUT', body: position })
    const stored = await device.json(`/syncs/progress/${document}`)
    expectEqual(stored.percentage, 0.5, 'percentage')
    const book = books.find(({ title }) => title === 'Saga, part 2')!
    const progress = await client.json(`/api/v1/books/${book.id}/progress`)
    expectEqual(progress.currentPage, 2, 'page of the book')
  })
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex')

function pathOf(client: Client, href: string): string {
  const { pathname, search } = new URL(href, `${client.base}/`)
  return pathname + search
}
