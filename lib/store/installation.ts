// Identity of an installation: the same id in the database and the data directory. A process started with
// another installation's directory is refused, rather than serving a catalog without its covers.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Conflict, Invalid } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { Sql } from './postgres/db.ts'

const fileName = 'stackroom.id'
const settingKey = 'installation_id'

type Options = {
  /** The data directory. */
  folder: string
  /** Follows "the database" in messages. */
  place: string
  /** Writes the database's id to the directory instead of refusing it. */
  adopts: boolean
  /** Assigns a new id to both, even if they have one. */
  renews?: boolean | undefined
}

/**
 * The first start assigns an id to both. Throws Conflict if their ids differ or only one of them has an id,
 * Invalid if the file cannot be read or written.
 */
export async function joinInstallation(
  sql: Sql,
  { folder, place, adopts, renews = false }: Options,
) {
  const file = join(folder, fileName)
  // Renamed after the commit, so that a process killed in between is not refused at its next start.
  const draft = `${file}.new`
  const isWritten = await sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(hashtext('stackroom.installation'))`
    const [row] = await tx<{ id: string }[]>`
      select value ->> 'id' as id from setting where key = ${settingKey}`
    const inDatabase = row?.id ?? null
    const inFolder = readId(file)
    if (!renews && inFolder !== null && inFolder === inDatabase) return false
    const wasInterrupted = inDatabase !== null && readId(draft) === inDatabase
    const isNew = inFolder === null && inDatabase === null
    if (!isNew && !wasInterrupted && !adopts && !renews)
      throw new Conflict(refusal({ folder, place, inFolder, inDatabase }))
    const id = (renews ? null : (inDatabase ?? inFolder)) ?? newId()
    writeId(draft, id)
    await tx`
      insert into setting (key, value)
      values (${settingKey}, ${tx.json({ id })})
      on conflict (key) do update set value = excluded.value`
    return true
  })
  if (isWritten) complete(draft, file)
}

function complete(draft: string, file: string): void {
  try {
    renameSync(draft, file)
  } catch (error) {
    // Another process that started at the same time has already renamed it.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

type Mismatch = Pick<Options, 'folder' | 'place'> & {
  inFolder: string | null
  inDatabase: string | null
}

function refusal({ folder, place, inFolder, inDatabase }: Mismatch): string {
  const directory = `The data directory ${resolve(folder)}`
  const problem =
    inFolder === null
      ? `${directory} does not belong to the database ${place}`
      : inDatabase === null
        ? `${directory} belongs to another database, not to the new database ${place}`
        : `${directory} belongs to another database, not to the database ${place}`
  return `${problem}; correct data_dir or database.url, or run \`stackroom doctor --adopt\` with the same options if they now belong together`
}

function readId(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim() || null
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    throw new Invalid(`${resolve(file)} cannot be read (${code})`, { cause })
  }
}

function writeId(file: string, id: string): void {
  try {
    writeFileSync(file, `${id}\n`, { mode: 0o600 })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new Invalid(`${resolve(file)} cannot be written (${code}); data_dir must be writable`, {
      cause,
    })
  }
}
