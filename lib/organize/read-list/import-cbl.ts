// Import of a CBL file as a read list, with a report of what matched each entry.
import type { Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import { readLists } from '../grouping/grouping.ts'
import { createGrouping } from '../grouping/write.ts'
import type { CblEntry } from './cbl-file.ts'
import { type CblMatch, matchCbl } from './match-cbl.ts'
import { readCbl } from './read-cbl.ts'

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
