// Paths of the server: accounts that only read see none, in any answer, event or error.
import { renameSync } from 'node:fs'
import { basename } from 'node:path'
import t from 'tap'
import { resources } from '../../lib/api/resources.ts'
import { openapiDocument } from '../../lib/http/openapi/openapi.ts'
import { createFixture } from '../kit/fixture.ts'
import { readBody } from '../kit/http/body.ts'
import { operationsOf } from '../kit/http/operation.ts'

const fixture = await createFixture(t)
const [library] = fixture.libraries
const root = library!.root
const operations = operationsOf(openapiDocument(resources, '1') as any)
const reads = operations.filter(({ method }) => method === 'GET')
// Every list that a reader may filter, with nothing to filter by, and with what it may not.
const lists = operations.filter(({ method, path }) => method === 'POST' && path.endsWith('/list'))
const unknownId = '00000000-0000-7000-8000-00000000dead'

/** The path with a known and an unknown id as its first parameter. */
function urlsOf(path: string): string[] {
  const names = [...path.matchAll(/\{(\W?\w*)\}/g)].map(match => match[1]!)
  const [first] = names
  if (first === undefined) return [path]
  const values = [...fixture.ids(path, first).slice(0, 1), unknownId]
  return values.map(value =>
    path.replace(/\{(\W?\w*)\}/g, (_, name: string) =>
      name === first ? encodeURIComponent(value) : (fixture.ids(path, name)[0] ?? unknownId),
    ),
  )
}

// Parts too: a message may name a folder without its parents.
const secrets = [root, fixture.data, basename(fixture.data.replace(/\/data$/, ''))]
const encodings = secrets.flatMap(text => [
  text,
  encodeURIComponent(text),
  text.replaceAll('/', '\\/'),
])

async function leaksOf(key: string, among = reads) {
  const leaks: string[] = []
  let answers = 0
  const look = async (url: string, init: RequestInit = {}) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const response = await fetch(fixture.base + url, { ...init, headers })
    const text =
      (await readBody(response)).toString('latin1') + JSON.stringify([...response.headers])
    answers += 1
    if (encodings.some(secret => text.includes(secret))) leaks.push(`${url} ${response.status}`)
  }
  for (const { path } of among)
    for (const url of urlsOf(path)) {
      await look(url)
      if (path.endsWith('stream')) await look(`${url}?lastEventId=0`)
    }
  for (const { path } of lists)
    for (const body of ['{}', '{"condition":{"path":{"operator":"contains","value":"tmp"}}}'])
      await look(path, { method: 'POST', body })
  await look('/api/v1/libraries', {
    method: 'POST',
    body: JSON.stringify({ name: 'x', path: root }),
  })
  return { leaks, answers }
}

// With all that an account may have without the right to change libraries.
const reader = await fixture.createUser('reader', {
  permissions: ['TasksRead', 'UsersRead', 'SystemHealth'],
})

t.test('a reader sees no path', async t => {
  const { leaks, answers } = await leaksOf(reader.key)
  t.ok(answers > 150, `${answers} answers`)
  t.same(leaks, [])
})

t.test('maintainers see the folders of libraries, and only these', async t => {
  const maintainer = await fixture.createUser('maintainer')
  t.equal((await maintainer.get(`/libraries/${library!.id}`)).body.path, root)
  t.equal((await maintainer.get('/libraries')).body.data[0].path, root)
  const json = reads.filter(({ path }) => /libraries|tasks|scans|books\/\{\w+\}$/.test(path))
  const { leaks } = await leaksOf(maintainer.key, json)
  t.same(
    leaks.filter(url => !/^\/api\/v1\/libraries(?:\/[\da-f-]+)? /.test(url)),
    [],
  )
})

t.test('no path is in errors while the folder is away', async t => {
  renameSync(root, `${root} away`)
  await fixture.admin.post(`/libraries/${library!.id}/scan`)
  const found = reads.filter(({ path }) => /\{/.test(path) && !path.endsWith('stream'))
  t.same((await leaksOf(reader.key, found)).leaks, [])
  renameSync(`${root} away`, root)
})
