// Names of fields in error messages: those that the request has.
import { test } from 'tap'
import { resources } from '../../lib/api/resources.ts'
import type { Invalid } from '../../lib/base/errors.ts'
import { propertyNames } from '../../lib/base/schema.ts'
import { compileValidator } from '../../lib/http/validate.ts'
import { comic, createTestLibrary } from '../kit/library.ts'
import { startApi } from '../kit/server.ts'

type Property = { aliases?: string[]; readOnly?: boolean }
type Body = { properties?: Record<string, Property> }

const wrongValues = [[[]], { unknown: [] }, 'x', -0.5, null, 'x'.repeat(1_000_000)]

test('every field of every body is named as it was sent', async t => {
  let named = 0
  for (const { operationId, body } of resources) {
    const { properties = {} } = (body ?? {}) as Body
    const validate = body && compileValidator({ schema: body, httpPart: 'body' } as never)
    for (const [name, property] of Object.entries(properties)) {
      if (property.readOnly) continue
      const spellings = [...new Set(propertyNames(name, property))]
      if (spellings.length === 1) continue
      for (const sent of spellings) {
        const errors = wrongValues.flatMap(value => {
          const { error } = validate!({ [sent]: value }) as { error?: Invalid }
          const details = (error?.details ?? []) as { path: string }[]
          return details.map(({ path }) => path.split('/')[1])
        })
        const others = spellings.filter(other => other !== sent)
        t.notOk(
          errors.some(path => others.includes(path!)),
          `${operationId} ${sent}`,
        )
        if (errors.includes(sent)) named++
      }
    }
  }
  t.ok(named > 200, `${named} fields`)
})

test('handlers name the fields that were sent', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const shelf = await createTestLibrary(t, all, { 'Akira/1.cbz': comic() })
  await shelf.scan()
  const book = (await shelf.books())[0]!
  const library = `/libraries/${shelf.id}`
  const progress = `/books/${book.id}/progress`
  const metadata = `/books/${book.id}/metadata`
  const grouped = { name: 'Some', series_ids: ['x'] }
  const ids = { series_id: book.seriesId, book_id: book.id }
  const smart = { book_strategy: 'smart', book_config: { additional_generic_patterns: ['['] } }
  const flat = { series_strategy: 'flat', series_config: { filename_patterns: ['['] } }
  const cases: [method: string, path: string, body: object | undefined, name: string][] = [
    ['PATCH', library, { scanning_config: { cron_schedule: '* *' } }, 'cron_schedule'],
    ['PATCH', library, { scanningConfig: { cron_schedule: '* *' } }, 'cron_schedule'],
    ['PATCH', library, { scanningConfig: { cronSchedule: '* *' } }, 'cronSchedule'],
    ['PATCH', library, { scanning_config: { cron_timezone: 'Nowhere' } }, 'cron_timezone'],
    ['PATCH', library, { excluded_patterns: 'x\n'.repeat(600) }, 'excluded_patterns'],
    ['PATCH', library, smart, 'additional_generic_patterns'],
    ['PATCH', library, flat, 'filename_patterns'],
    ['POST', '/api-keys', { name: 'key', expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
    ['POST', '/want-to-read', ids, 'series_id'],
    ['POST', '/want-to-read', ids, 'book_id'],
    ['POST', '/templates/preview', { template: 'x', ...ids }, 'series_id'],
    ['POST', '/collections', grouped, 'series_ids'],
    ['POST', '/collections', { name: 'Some', seriesIds: ['x'] }, 'seriesIds'],
    ['PUT', progress, { current_page: 1, updated_at: '0000-01-01T00:00:00Z' }, 'updated_at'],
    ['PUT', progress, { current_page: 1, modified: '0000-01-01T00:00:00Z' }, 'modified'],
    ['PATCH', metadata, { isbn: '123' }, 'isbn'],
    ['PATCH', metadata, { isbns: '123' }, 'isbns'],
    ['PATCH', metadata, { language_iso: '?' }, 'language_iso'],
    ['PATCH', metadata, { language: '?' }, 'language'],
    ['GET', '/reading-stats?time_zone=Nowhere', undefined, 'time_zone'],
    ['GET', '/reading-stats?timeZone=Nowhere', undefined, 'timeZone'],
  ]
  for (const [method, path, body, name] of cases) {
    const { status, body: error } = await admin.request(method, path, body && { body })
    t.equal(status, 400, `${method} ${path}`)
    t.match(error.message, new RegExp(`(?<!\\w)${name}(?!\\w)`), `${method} ${path}`)
  }
})
