// The images of the corpus and what is known of them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const corpus = fileURLToPath(new URL('../../../shared/corpus', import.meta.url))
export const read = (path: string) => readFileSync(join(corpus, path))
export const example = (extension: string) =>
  read(`files/stumpapp__stump/core/integration-tests/data/example.${extension}`)

type Row = {
  path: string
  kind: string
  expected: { w?: number; h?: number; res?: string; orientation?: number; decodes?: boolean }
}
export type Expected = { path: string; isSound: boolean; width: number; height: number }

/** Sizes as displayed: the rows hold them as stored, and name the orientation. */
export function images(): Expected[] {
  return readFileSync(join(corpus, 'expected-files.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Row)
    .filter(row => row.kind === 'image')
    .map(({ path, expected }) => {
      const [w, h] = expected.res?.split('x').map(Number) ?? [expected.w ?? 0, expected.h ?? 0]
      // The logo's own header turns it, which the row does not say.
      const isTurned = (expected.orientation ?? 1) >= 5 || path.includes('sunset_logo')
      const [width, height] = isTurned ? [h!, w!] : [w!, h!]
      return { path, isSound: expected.decodes === true, width, height }
    })
}
