// Import of a CBL file as a read list, with a report of what matched each entry. The file is read in a thread unless it
// is short.
import type { Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import { runInOwnThread, ThreadTimeout } from '../../base/async/own-thread.ts'
import { Invalid } from '../../base/errors.ts'
import { programFile } from '../../base/package.ts'
import { readLists } from '../grouping/grouping.ts'
import { maxMembers } from '../grouping/members.ts'
import { createGrouping } from '../grouping/write.ts'
import { type CblEntry, type CblInput, type CblList, parseCbl } from './cbl-file.ts'
import { type CblMatch, matchCbl } from './match-cbl.ts'

export type CblImport = {
  /** Name of the read list; defaults to the name in the file. */
  name?: string | undefined
  /** Only report. */
  dryRun: boolean
  /** Whether to include alternative matches. */
  withAlternatives: boolean
  signal?: AbortSignal
}

export type CblReport = {
  name: string
  /** Null if no list was created: no entry matched, or only the report was requested. */
  id: string | null
  entries: (CblMatch & { entry: CblEntry })[]
}

const maxNameLength = 200

/** Throws Invalid if it is not a CBL file, Conflict for an existing name. */
export async function importCbl(
  sql: Sql,
  viewer: Viewer,
  bytes: Uint8Array,
  { name: wantedName, dryRun, withAlternatives, signal }: CblImport,
): Promise<CblReport> {
  const list = await readCbl(bytes, signal)
  const name = (wantedName ?? list.name ?? 'Reading list').slice(0, maxNameLength).toWellFormed()
  const matches = await matchCbl(sql, viewer, list.entries)
  const entries = matches.map((match, i) => ({ ...match, entry: list.entries[i]! }))
  const memberIds = matches.flatMap(({ match, book }) =>
    book && (match === 'exact' || withAlternatives) ? book.id : [],
  )
  const id =
    dryRun || memberIds.length === 0
      ? null
      : await createGrouping(sql, viewer, readLists, {
          ...{ name, ordered: true, memberIds: [...new Set(memberIds)] },
        })
  return { name, id, entries }
}

/** The longest lists have 200 bytes per entry. */
const maxBytes = 8 * 1024 * 1024
/** Takes about 15 ms without a thread, whereas starting one takes 200 ms. */
const maxInlineBytes = 128 * 1024
const threadFile = programFile('lib/organize/read-list/cbl-thread')
const threadLimits = { maxMs: 30_000, maxMb: 512 }

/** Throws Invalid if it is not a CBL file or is too long. */
export async function readCbl(bytes: Uint8Array, signal?: AbortSignal): Promise<CblList> {
  if (bytes.length > maxBytes)
    throw new Invalid(`The reading list is larger than ${maxBytes / 1024 / 1024} MiB`, {
      reason: 'file_too_large',
    })
  const input: CblInput = { bytes, maxEntries: maxMembers }
  const list = bytes.length > maxInlineBytes ? await parseInThread(input, signal) : parseCbl(input)
  if (list === null)
    throw new Invalid('The file is not a CBL reading list', { reason: 'no_reading_list' })
  if (list.entries.length > maxMembers)
    throw new Invalid(`The reading list has more than ${maxMembers} entries`, { limit: maxMembers })
  return list
}

async function parseInThread(input: CblInput, signal?: AbortSignal): Promise<CblList | null> {
  try {
    return await runInOwnThread(threadFile, input, { ...threadLimits, signal })
  } catch (error) {
    if (error instanceof ThreadTimeout || isOutOfMemory(error))
      throw new Invalid('Reading the list takes too much time or memory', {
        cause: error,
      })
    throw error
  }
}

const isOutOfMemory = (error: unknown) =>
  (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY'
