// Partial MD5 of a file as in KOReader (`util.partialMD5`): samples of 1,024 bytes at 0, 1 Ki, 4 Ki, 16 Ki …
// 1 Gi, at most 12 KiB in total. Together with the size it identifies moved files.
import { createHash } from 'node:crypto'
import type { File } from './file.ts'

const sampleBytes = 1024

/** Lower-case hex MD5, equal to the document id that KOReader sends. */
export function fingerprint(file: File): string {
  const md5 = createHash('md5')
  let offset = 0
  for (let step = 0; step <= 11 && offset < file.size; step++) {
    md5.update(file.read(offset, sampleBytes))
    offset = sampleBytes * 4 ** step
  }
  return md5.digest('hex')
}
