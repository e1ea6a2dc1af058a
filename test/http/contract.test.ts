// Contract: queries and bodies allowed by the OpenAPI document are accepted, all others are refused.
import { test } from 'tap'
import { temporaryFolder } from '../kit/files/folders.ts'
import { createFixture } from '../kit/fixture.ts'
import { checkContract } from '../kit/http/contract.ts'
import { contractExceptions, neededMembers } from '../kit/http/contract-exceptions.ts'
import { openapi } from '../kit/http/openapi.ts'

test('every 30th boundary case of every body and query agrees with the document', async t => {
  const w = await createFixture(t)
  const { differences, counts } = await checkContract({
    document: openapi(),
    base: w.base,
    headers: { 'x-api-key': w.admin.key },
    ids: w.ids,
    exceptions: contractExceptions,
    bodies: neededMembers(temporaryFolder(t)),
    repetitions: 1,
    stride: 30,
  })
  t.same(differences, [])
  t.ok(counts.allowed > 200 && counts.forbidden > 150, JSON.stringify(counts))
})
