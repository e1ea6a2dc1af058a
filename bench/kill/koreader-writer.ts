// Positions of KOReader in files of the library: before their books are known, while they are scanned and moved.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fingerprint } from '../../lib/base/fingerprint.ts'
import { booksOf } from './truth.ts'
import type { Writer, WriterContext } from './writer.ts'

const maxDocuments = 80

type Position = { document: string; progress: string; percentage: number; device: string }

export function koreaderWriter({ send, random, accountId, library }: WriterContext): Writer {
  const documents = onlyOnce(library).slice(0, maxDocuments)
  const latest = new Map<string, Position>()
  let count = 0
  return {
    async write() {
      const percentage = random.below(98) / 100
      const position: Position = {
        ...{ document: random.pick(documents), percentage, progress: `/body/p[${(count += 1)}]` },
        device: random.pick(['Kobo', 'Kindle']),
      }
      // Half of them by the first request of a device that was offline: it reads before it writes.
      if (random.chance(0.3)) await send(`/koreader/syncs/progress/${position.document}`, {})
      await send('/koreader/syncs/progress', {
        method: 'PUT',
        body: { ...position, device_id: position.device },
      })
      latest.set(position.document, position)
    },
    count: () => count,
    async compare(sql) {
      const present = new Set(onlyOnce(library))
      const problems: string[] = []
      for (const { document, progress, percentage, device } of latest.values()) {
        if (!present.has(document)) continue
        const { body } = await send(`/koreader/syncs/progress/${document}`, {})
        const now = JSON.parse(body) as Partial<Position>
        if (now.progress !== progress || now.percentage !== percentage || now.device !== device)
          problems.push(`${document} is at ${now.progress} instead of ${progress}`)
      }
      const rows = await sql<{ unknown: number; linked: number; devices: number }[]>`
        select (
            select count(*)::integer from koreader_document d join book b on b.fingerprint = d.digest
            where d.account_id = ${accountId} and b.missing_at is null) as unknown,
          (select count(*)::integer from progress where account_id = ${accountId}) as linked,
          (select count(*)::integer from reading_device
            where account_id = ${accountId} and key <> 'other') as devices`
      const { unknown, linked, devices } = rows[0]!
      if (unknown > 0) problems.push(`${unknown} documents are not linked to their books`)
      if (linked < [...latest.keys()].filter(document => present.has(document)).length)
        problems.push(`only ${linked} books have a position`)
      if (devices > 2) problems.push(`${devices} devices instead of 2`)
      return problems
    },
  }
}

/** The documents of files of which the library has one. */
function onlyOnce(library: string): string[] {
  const all = booksOf(library).map(path => {
    const bytes = readFileSync(join(library, path))
    return fingerprint({
      size: bytes.length,
      read: (offset: number, length: number) => bytes.subarray(offset, offset + length),
    } as never)
  })
  const counts = Map.groupBy(all, document => document)
  return all.filter(document => counts.get(document)!.length === 1)
}
