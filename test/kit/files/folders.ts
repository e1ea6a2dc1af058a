// Temporary folders of tests.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Scope } from '../db.ts'

export type Files = Record<string, Buffer>

/** An empty folder, readable by every account, until the end of `t`. */
export function temporaryFolder(t: Scope, parent = tmpdir()): string {
  const folder = realpathSync(mkdtempSync(join(parent, 'stackroom-')))
  chmodSync(folder, 0o755)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A folder with these files until the end of `t`; returns its path. */
export function folderWithFiles(t: Scope, files: Files): string {
  const root = join(temporaryFolder(t), 'books')
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), bytes)
  }
  return root
}
