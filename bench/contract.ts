// Contract check: all boundary cases of the OpenAPI document against a real server on a throw-away database;
// prints every difference, and how often each exception applied. node bench/contract.ts [--repetitions 0]
import { parseArgs } from 'node:util'
import { temporaryFolder } from '../test/kit/files/folders.ts'
import { createFixture } from '../test/kit/fixture.ts'
import { checkContract } from '../test/kit/http/contract.ts'
import { contractExceptions, neededMembers } from '../test/kit/http/contract-exceptions.ts'
import { openapi } from '../test/kit/http/openapi.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({ options: { repetitions: { type: 'string', default: '1' } } })
const ends: (() => unknown)[] = []
const t = { teardown: (end: () => unknown) => ends.unshift(end) }

try {
  const w = await createFixture(t)
  const { differences, counts, applied } = await checkContract({
    document: openapi(),
    base: w.base,
    headers: { 'x-api-key': w.admin.key },
    ids: w.ids,
    exceptions: contractExceptions,
    bodies: neededMembers(temporaryFolder(t)),
    repetitions: Number(values.repetitions),
    stride: 1,
  })
  for (const difference of differences) print(difference)
  print({ exceptions: Object.fromEntries(applied) })
  print({ ...counts, differences: differences.length })
} finally {
  for (const end of ends) await end()
}
