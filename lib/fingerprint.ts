// KOReader's partial MD5 (its `util.partialMD5`): 1,024-byte samples at 0, 1 Ki, 4 Ki, 16 Ki … 1 Gi,
// so at most 12 KiB of any file. With the size it tells a moved file from a new one.
import { createHash } from 'node:crypto'
import type { File } from './file.ts'

const sample = 1024

/** Lower-case hex MD5, the same value that KOReader sends as a document's id. */
export function fingerprint(file: File): string {
  const md5 = createHash('md5')
  let offset = 0
  for (let step = 0; step <= 11 && offset < file.size; step++) {
    md5.update(file.read(offset, sample))
    offset = sample * 4 ** step
  }
  return md5.digest('hex')
}
