// Partial MD5 of a file as in KOReader (`util.partialMD5`): samples of 1,024 bytes at 0, 1 Ki, 4 Ki, 16 Ki …
// 1 Gi, at most 12 KiB in total. Together with the size it identifies moved files.
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { scoped } from './async/dispose.ts'
import { assertContained, type Containment, openFlags } from './containment.ts'
import type { File } from './file.ts'
import type { Range } from './file-ranges.ts'

const sampleBytes = 1024

/** Lowercase hex MD5, equal to the document id that KOReader sends. */
export function fingerprint(file: File): string {
  const md5 = createHash('md5')
  for (const offset of sampleOffsets(file.size)) md5.update(file.read(offset, sampleBytes))
  return md5.digest('hex')
}

/** Like `fingerprint`, without blocking the thread. Throws Unreadable, errno errors. */
export function readFingerprint(path: Buffer, containment: Containment): Promise<string> {
  return scoped(async use => {
    const file = use(await open(path, openFlags(containment)))
    const stats = await file.stat()
    await assertContained({ fd: file.fd, stats, path }, containment)
    const md5 = createHash('md5')
    const sample = Buffer.alloc(sampleBytes)
    for (const offset of sampleOffsets(stats.size)) {
      const { bytesRead } = await file.read(sample, 0, sampleBytes, offset)
      md5.update(sample.subarray(0, bytesRead))
    }
    return md5.digest('hex')
  })
}

/** The ranges that the fingerprint of a file of this size covers. */
export const samplesOf = (fileBytes: number): Range[] =>
  sampleOffsets(fileBytes).map(position => ({ position, length: sampleBytes }))

const offsets = [0, ...Array.from({ length: 11 }, (_, step) => sampleBytes * 4 ** step)]

const sampleOffsets = (size: number): number[] => offsets.filter(offset => offset < size)
