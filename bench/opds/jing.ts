// Validation of Atom documents with jing (RELAX NG), in batches, because it is slow to start.
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requireShared } from '../kit/shared.ts'

const batch = 500

/** Keeps documents below `folder` until they were validated. */
export function openJing(folder: string) {
  const schema = requireShared('opds-schemas/opds-1.x-rnc/opds-1.2-patched.rnc')
  let waiting: string[] = []
  let documents = 0
  const errors: string[] = []
  let running: Promise<unknown> = Promise.resolve()
  mkdirSync(folder, { recursive: true })

  const validate = (files: string[]) =>
    new Promise<void>(resolve => {
      const options = { maxBuffer: 64 * 1024 * 1024 }
      execFile('jing', ['-c', schema, ...files], options, (failure, stdout) => {
        errors.push(...stdout.split('\n').filter(line => line !== ''))
        if (failure && stdout === '') errors.push(failure.message)
        if (!failure) for (const file of files) rmSync(file)
        resolve()
      })
    })
  const flush = () => {
    const files = waiting
    waiting = []
    if (files.length > 0) running = running.then(() => validate(files))
  }
  return {
    async add(document: Uint8Array) {
      documents += 1
      const file = join(folder, `${documents}.xml`)
      writeFileSync(file, document)
      waiting.push(file)
      if (waiting.length < batch) return
      await running
      flush()
    },
    /** Lines that jing printed; documents of a batch with errors are left in the folder. */
    async end() {
      flush()
      await running
      return { documents, errors }
    },
  }
}
