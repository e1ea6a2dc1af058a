// Import of a CBL file as a read list, with a report of what matched each entry.
import type { Sql } from 'postgres'
import type { Viewer } from '../../auth/viewer.ts'
import { Invalid } from '../../errors.ts'
import { readLists } from '../grouping/grouping.ts'
import { maxMembers } from '../grouping/members.ts'
import { createGrouping } from '../grouping/write.ts'
import { type CblEntry, parseCbl } from './cbl-file.ts'
import { type CblMatch, matchCbl } from './match-cbl.ts'

export type CblImport = {
  /** Of the read list; by default that of the file. */
  name?: string | undefined
  /** Only the report. */
  dryRun: boolean
  /** Whether books that match no more than nearly are taken, too. */
  withAlternatives: boolean
}

export type CblReport = {
  name: string
  /** Null when none was made: no entry matched, or only the report was requested. */
  id: string | null
  entries: (CblMatch & { entry: CblEntry })[]
}

const maxNameLength = 200
/** The longest lists have 200 bytes for each entry. Parsing holds up all other requests. */
const maxBytes = 8 * 1024 * 1024

/** Throws Invalid for what is no CBL file, Conflict for a name that exists. */
export async function importCbl(
  sql: Sql,
  viewer: Viewer,
  bytes: Uint8Array,
  { name: wantedName, dryRun, withAlternatives }: CblImport,
): Promise<CblReport> {
  if (bytes.length > maxBytes)
    throw new Invalid(`The reading list is larger than ${maxBytes / 1024 / 1024} MiB`, {
      reason: 'file_too_large',
    })
  const list = parseCbl(bytes, maxMembers)
  if (list === null)
    throw new Invalid('The file is no CBL reading list', { reason: 'no_reading_list' })
  if (list.entries.length > maxMembers)
    throw new Invalid(`The reading list has more than ${maxMembers} entries`, {
      reason: 'limit_reached',
      limit: maxMembers,
    })
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
