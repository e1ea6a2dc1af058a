// Requests that name a folder of the server: who may send them, and which folders they accept.
import { dirname, join } from 'node:path'
import t from 'tap'
import { resources } from '../../../../lib/api/resources.ts'
import { newId } from '../../../../lib/base/id.ts'
import { openapiDocument } from '../../../../lib/http/openapi/openapi.ts'
import type { Role } from '../../../kit/accounts.ts'
import { folderWithFiles, temporaryFolder } from '../../../kit/files/folders.ts'
import { type Json, type Operation, operationsOf } from '../../../kit/http/operation.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const { sql } = all
const shelf = await createTestLibrary(t, all, { 'Shown/1.cbz': comic() })
const otherRoot = folderWithFiles(t, { 'Unseen folder/1.cbz': comic() })
const admin = await all.createUser('admin')
await admin.post('/libraries', { name: 'Other', path: otherRoot })

const document = openapiDocument(resources, '1') as any
const operations = operationsOf(document)
/** Operations with a path of the server in their body or query. */
const named = operations.filter(
  operation => bodyFields(operation).has('path') || hasPathQuery(operation),
)

function bodyFields({ body }: Operation): Set<string> {
  const ref = (body?.$ref as string | undefined)?.split('/').at(-1)
  const schema: Json = ref ? document.components.schemas[ref] : (body ?? {})
  return new Set(Object.keys((schema.properties as Json) ?? {}))
}
function hasPathQuery({ parameters }: Operation) {
  return parameters.some(parameter => parameter.in === 'query' && parameter.name === 'path')
}

type Restriction = (id: string) => Promise<unknown>
const tag = newId()
await sql`insert into sharing_tag (id, name) values (${tag}, 'kids')`
const restrictions: Record<string, Restriction> = {
  'by libraries': async id => {
    await sql`update account set all_libraries = false where id = ${id}`
    await sql`insert into account_library (account_id, library_id) values (${id}, ${shelf.id})`
  },
  'by age': id => sql`update account set age_limit = 12 where id = ${id}`,
  'by a denied tag': id =>
    sql`insert into account_sharing_tag (id, account_id, tag_id, mode) values (${newId()}, ${id}, ${tag}, 'deny')`,
  'by an allowed tag': id =>
    sql`insert into account_sharing_tag (id, account_id, tag_id, mode) values (${newId()}, ${id}, ${tag}, 'allow')`,
}

type User = Awaited<ReturnType<typeof all.createUser>>

/** Sends every request that names a folder. */
async function send(user: User, path: string) {
  const answers = []
  for (const operation of named) {
    const url = operation.path.replace('/api/v1', '').replace(/\{\w+\}/, shelf.id)
    const query = hasPathQuery(operation) ? `?path=${encodeURIComponent(path)}` : ''
    const name = bodyFields(operation).has('name') ? { name: 'New' } : {}
    const body = operation.body ? { ...name, path } : undefined
    const { status, bytes } = await user.request(operation.method, url + query, { body })
    answers.push({ operation: operation.operationId, status, text: bytes.toString() })
  }
  return answers
}

t.test('the requests that name a folder are known', async t => {
  t.same(named.map(({ operationId }) => operationId).sort(), [
    'browseFilesystem',
    'createLibrary',
    'patchLibrary',
    'previewScan',
    'updateLibrary',
  ])
})

for (const role of ['reader', 'maintainer'] satisfies Role[]) {
  for (const [rule, restrict] of Object.entries(restrictions)) {
    t.test(`a ${role} restricted ${rule} learns nothing of a folder`, async t => {
      const user = await all.createUser(role)
      await restrict(user.id)
      const responses = []
      for (const path of [
        otherRoot,
        join(otherRoot, 'Unseen folder'),
        join(otherRoot, 'none'),
        '/',
      ])
        responses.push(await send(user, path))
      for (const answers of responses)
        for (const { operation, status, text } of answers) {
          t.equal(status, 403, `${operation} ${text}`)
          t.notMatch(text, /Unseen|Other|another/)
        }
      t.same(responses[1], responses[0])
      t.same(responses[2], responses[0], 'a folder that does not exist is answered alike')
    })
  }
}

t.test('a restricted maintainer may change all else of a library', async t => {
  const user = await all.createUser('maintainer')
  await restrictions['by libraries']!(user.id)
  const { status, body } = await user.get(`/libraries/${shelf.id}`)
  t.match({ status, path: body.path }, { status: 200, path: shelf.root })
  const same = await user.put(`/libraries/${shelf.id}`, { path: shelf.root, description: 'x' })
  t.match(same, { status: 200, body: { description: 'x' } })
})

t.test('administrators and accounts that nothing is hidden from may name folders', async t => {
  const path = folderWithFiles(t, { 'Row/1.cbz': comic() })
  const limitedAdmin = await all.createUser('admin')
  await restrictions['by age']!(limitedAdmin.id)
  for (const user of [admin, limitedAdmin, await all.createUser('maintainer')]) {
    const preview = await user.post('/libraries/preview-scan', { path })
    t.match(preview, { status: 200, body: { totalFiles: 1, isComplete: true } })
  }
})

t.test('special file systems are refused and never entered', async t => {
  const special = [
    '/proc',
    '/sys',
    '/dev',
    '/proc/self',
    '/proc/1/task',
    '/sys/kernel',
    '/dev/pts',
    '/proc/self/fd',
    '/proc/../dev/./',
  ]
  for (const path of special)
    for (const { operation, status, text } of await send(admin, path))
      t.ok([400, 403].includes(status), `${path} ${operation} ${status} ${text}`)
  // The data directory is below all of these.
  for (const path of ['/', '/proc/self/root', '/..', dirname(all.data)])
    t.equal((await admin.post('/libraries/preview-scan', { path })).status, 400, path)
  const missing = join(temporaryFolder(t), 'none')
  t.equal((await admin.post('/libraries/preview-scan', { path: missing })).status, 400)
})
