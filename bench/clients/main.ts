// Client generation from the OpenAPI document: every operation survives in every generator, the clients compile, and a
// program made with them reads and writes on a server. Needs npm, python3 with venv and java.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { createFixture } from '../../test/kit/fixture.ts'
import { openapi } from '../../test/kit/http/openapi.ts'
import { print } from '../kit/stackroom.ts'
import { heyApi, openapiTypescript, swaggerTypescript, typescriptFetch } from './javascript.ts'
import { pythonClient } from './python.ts'

const methods = ['get', 'put', 'post', 'patch', 'delete']
const generators = [
  ...[pythonClient({ literalEnums: false }), pythonClient({ literalEnums: true })],
  ...[typescriptFetch, heyApi, swaggerTypescript, openapiTypescript],
]

const folder = mkdtempSync(join(tmpdir(), 'stackroom-clients-'))
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]

try {
  const document = join(folder, 'openapi.json')
  const { paths } = openapi() as { paths: Record<string, object> }
  writeFileSync(document, JSON.stringify(openapi()))
  const operations = Object.values(paths).flatMap(path =>
    Object.keys(path).filter(method => methods.includes(method)),
  ).length
  const { base, admin } = await createFixture({ teardown: end => ends.unshift(end) })
  const { body } = await admin.post('/books/list?sort=title,desc&pageSize=2', {
    condition: { title: { operator: 'contains', value: 'a' } },
  })
  const expected = {
    titles: body.data.map(({ title }: { title: string }) => title),
    collection: { name: 'Favorites', seriesCount: 0 },
    missing: 404,
  }
  for (const { name, generate, compile, call } of generators) {
    const { generated, dropped } = await generate({ folder, document })
    const errors = await compile(folder)
    for (const error of errors.slice(0, 10)) print({ error })
    const compiles = errors.length === 0
    const answer = call && compiles ? await call(folder, [base, admin.key]) : null
    const isRight = call === undefined || isDeepStrictEqual(answer, expected)
    print({ generator: name, operations, generated, dropped, compiles, isRight })
    if (!isRight) print({ expected, answer })
    if (generated !== operations || dropped.length > 0 || !compiles || !isRight)
      process.exitCode = 1
  }
} finally {
  for (const end of ends) await end()
}
