// Books and images with known properties: `test/golden` (part of this repository) and the much larger
// shared corpus of third-party files, where it is there.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { leaveOut, sharedPath } from '../shared.ts'

const golden = join(import.meta.dirname, '..', '..', 'golden')
const generated = 'library/generated-hostile/'

/** Third-party files of each kind in the shared corpus: how many checks are left out without it. */
const sharedCounts = { archive: 281, comic: 37, epub: 147, pdf: 100, image: 117 }

export type Expected = {
  outcome: 'ok' | 'fail-clean' | 'either' | 'skip'
  pages?: number | { min?: number; max?: number }
  title?: string
  author?: string
  series?: string
  language?: string
  creators?: string[]
  images?: number
  widths?: number[]
  firstPageSha256?: string
  collectionType?: string
  [property: string]: unknown
}
/** `name` is for messages, `path` is absolute. */
export type CorpusBook = { name: string; path: string; kind: BookKind; expected: Expected }
export type BookKind = 'archive' | 'comic' | 'epub' | 'pdf'

/** Absolute path of a file of `test/golden`. */
export const goldenPath = (name: string): string => join(golden, name)
export const goldenFile = (name: string): Buffer => readFileSync(goldenPath(name))

/** All books of these kinds with their expected results. */
export function corpusBooks(kinds: readonly BookKind[]): CorpusBook[] {
  const own = rowsOf<CorpusBook>(goldenPath('expected.jsonl')).map(row => ({
    ...row,
    name: row.path,
    path: goldenPath(row.path),
  }))
  return [...own, ...sharedBooks(kinds)].filter(({ kind }) => kinds.includes(kind))
}

function sharedBooks(kinds: readonly BookKind[]): CorpusBook[] {
  const corpus = sharedPath('corpus')
  if (corpus === null) {
    for (const kind of kinds) leaveOut('corpus', sharedCounts[kind])
    return []
  }
  return rowsOf<CorpusBook>(join(corpus, 'expected.jsonl'))
    .filter(({ path }) => !path.startsWith(generated))
    .map(row => ({ ...row, name: row.path, path: join(corpus, row.path) }))
}

/** For the `skip` option of a test that only uses third-party files: a reason if these are not there. */
export function skipWithoutCorpus(checks: number): string | false {
  if (sharedPath('corpus') !== null) return false
  leaveOut('corpus', checks)
  return `left out: ${checks} checks (shared/corpus is not there)`
}

/** Absolute path of a third-party file of the corpus; null (and counted as left out) if it is not there. */
export function corpusPath(path: string, checks = 1): string | null {
  const absolute = sharedPath(`corpus/${path}`)
  if (absolute === null) leaveOut('corpus', checks)
  return absolute
}

/** Absolute path of a third-party book, for tests that are skipped without the corpus. */
export const corpusBook = (path: string): string => corpusPath(`library/${path}`)!

/** Size in pixels as displayed. Images that are not sound may be refused. */
export type CorpusImage = {
  name: string
  path: string
  isSound: boolean
  width: number
  height: number
}

/** The third-party images; tests have images of their own beside these. */
export function corpusImages(): CorpusImage[] {
  const corpus = sharedPath('corpus')
  if (corpus === null) {
    leaveOut('corpus', sharedCounts.image)
    return []
  }
  return rowsOf<ImageRow>(join(corpus, 'expected-files.jsonl'))
    .filter(row => row.kind === 'image')
    .map(({ path, expected }) => {
      const [w, h] = expected.res?.split('x').map(Number) ?? [expected.w ?? 0, expected.h ?? 0]
      // The header of this one contains an orientation that its row lacks.
      const isTurned = (expected.orientation ?? 1) >= 5 || path.includes('sunset_logo')
      const [width, height] = isTurned ? [h!, w!] : [w!, h!]
      const isSound = expected.decodes === true
      return { name: path, path: join(corpus, path), isSound, width, height }
    })
}

/** Sizes as stored, with the orientation. */
type ImageRow = {
  path: string
  kind: string
  expected: { w?: number; h?: number; res?: string; orientation?: number; decodes?: boolean }
}

function rowsOf<T>(path: string): T[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  return lines.map(line => JSON.parse(line) as T)
}
