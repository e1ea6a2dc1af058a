// Recording of requests and answers over REST, Komga, OPDS and KOReader on a library that is the same in every run:
// shows that a large change of the code leaves all answers as they were.
// npm run bench -- record --out FILE        writes a line of JSON for each request
// npm run bench -- record --compare FILE    sends the requests of FILE again, and prints answers that differ
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import { readBody } from '../../test/kit/http/body.ts'
import { print } from '../kit/stackroom.ts'
import { type Catalog, createCatalog } from './catalog.ts'
import { type NormalForm, normalAnswer, withIds } from './normal-form.ts'
import type { Request } from './request.ts'
import { requestsOf } from './requests.ts'

type Recorded = { request: Request; answer: NormalForm }

const { values } = parseArgs({ options: { out: { type: 'string' }, compare: { type: 'string' } } })
const ends: (() => unknown)[] = []
try {
  const catalog = await createCatalog({ teardown: (end: () => unknown) => ends.unshift(end) })
  if (values.compare !== undefined) await compare(catalog, read(values.compare))
  else write(values.out ?? 'recording.json', await record(catalog, requestsOf(catalog)))
} finally {
  for (const end of ends) await end()
}

async function record(catalog: Catalog, requests: Request[]): Promise<Recorded[]> {
  const recorded: Recorded[] = []
  for (const request of requests) recorded.push({ request, answer: await send(catalog, request) })
  const statuses = Object.groupBy(recorded, ({ answer }) => String(answer.status))
  const counts = Object.entries(statuses).map(([status, list]) => [status, list!.length])
  print({ requests: recorded.length, statuses: Object.fromEntries(counts) })
  return recorded
}

async function compare(catalog: Catalog, recorded: Recorded[]) {
  let different = 0
  for (const { request, answer } of recorded) {
    const now = await send(catalog, request)
    if (JSON.stringify(now) === JSON.stringify(answer)) continue
    different++
    const [path, before, after] = firstDifference(answer, now)
    print({
      as: request.as,
      [request.method]: request.path,
      body: request.body,
      at: path,
      before,
      after,
    })
  }
  print({ requests: recorded.length, different })
  if (different > 0) process.exitCode = 1
}

async function send({ base, names, callers }: Catalog, request: Request): Promise<NormalForm> {
  const { as, method, path, body, headers, only } = request
  const response = await fetch(base + encodeURI(withIds(names, path)).replaceAll('%25', '%'), {
    method,
    redirect: 'manual',
    headers: {
      ...callers[as],
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: withIds(names, JSON.stringify(body)) }),
  })
  return normalAnswer(names, response, await readBody(response), only)
}

/** Where two values begin to differ, with both. */
function firstDifference(before: unknown, after: unknown, path = ''): [string, unknown, unknown] {
  const areObjects = [before, after].every(v => typeof v === 'object' && v !== null)
  if (areObjects) {
    const [b, a] = [before, after] as [Record<string, unknown>, Record<string, unknown>]
    for (const key of new Set([...Object.keys(b), ...Object.keys(a)]))
      if (JSON.stringify(b[key]) !== JSON.stringify(a[key]))
        return firstDifference(b[key], a[key], `${path}.${key}`)
  }
  return [path, before, after]
}

function write(file: string, recorded: Recorded[]) {
  const text = recorded.map(line => `${JSON.stringify(line)}\n`).join('')
  writeFileSync(file, file.endsWith('.gz') ? gzipSync(text) : text)
}

function read(file: string): Recorded[] {
  const bytes = readFileSync(file)
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
  return text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
}
