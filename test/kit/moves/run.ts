// Random moves in two libraries of which one began as a copy of the other, with scans between, each of which is held
// against the disk.
import { cpSync, mkdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { findOrCreateLibrary } from '../../../lib/catalog/library/library-write.ts'
import { createReader } from '../accounts.ts'
import { type Catalog, doctorFindings } from '../catalog.ts'
import type { Scope } from '../db.ts'
import { temporaryFolder } from '../files/folders.ts'
import { openTestLibrary } from '../library.ts'
import { createRandom, type Random } from '../random.ts'
import { fillShelf, listTree, type Shelf, takeStep } from './steps.ts'
import { createKnown, type Known, rememberState, verifyProgress, verifyShelf } from './verify.ts'

export type Moves = { steps: number; scans: number; faults: string[]; log: string[] }

const startFiles = 30

/** Ends at the first faults; `log` then leads to them. */
export async function runMoves(
  t: Scope,
  all: Catalog,
  { seed, steps }: { seed: number; steps: number },
): Promise<Moves> {
  const random = createRandom(seed)
  const known = createKnown()
  const reader = await createReader(all.sql)
  const shelves = await createShelves(t, all, random)
  const moves: Moves = { steps: 0, scans: 0, faults: [], log: [] }
  const run = async (shelf: Shelf) => {
    moves.scans += 1
    moves.log.push(`scan of ${relative(join(shelf.base, '..', '..'), shelf.root)}`)
    for (const { id, root } of shelves)
      await all.sql`
        update library set root = ${Buffer.from(root)}, device = null
        where id = ${id} and root <> ${Buffer.from(root)}`
    await rememberState(all.sql, known, shelf)
    moves.faults.push(...(await scanShelf(all, shelf, known, random)))
    moves.faults.push(...(await verifyProgress(reader, known)))
  }
  for (const shelf of shelves) await run(shelf)
  while (moves.steps < steps && moves.faults.length === 0) {
    const [shelf, other] = random.shuffled(shelves) as [Shelf, Shelf]
    const step = takeStep(shelf, other, random)
    if (step === null) continue
    moves.steps += 1
    moves.log.push(step)
    if (random.chance(0.25)) await run(shelf)
    if (random.chance(0.1)) await run(other)
  }
  for (const shelf of shelves) if (moves.faults.length === 0) await run(shelf)
  if (moves.faults.length === 0) moves.faults.push(...(await doctorFindings(all)))
  return moves
}

async function createShelves(t: Scope, { sql }: Catalog, random: Random): Promise<Shelf[]> {
  const folder = temporaryFolder(t)
  const shelves: Shelf[] = []
  for (const name of ['one', 'two']) {
    const base = join(folder, name, 'base')
    const root = join(base, 'above', 'shelf')
    const trash = join(folder, name, 'trash')
    mkdirSync(trash, { recursive: true })
    mkdirSync(root, { recursive: true })
    const [original] = shelves
    if (original) cpSync(original.root, root, { recursive: true, preserveTimestamps: true })
    const { id } = await findOrCreateLibrary(sql, { root: Buffer.from(root), name })
    const shelf = {
      id,
      base,
      root,
      scannedRoot: root,
      trash,
      changed: new Set<string>(),
      renames: [],
    }
    if (!original) while (listTree(root).files.length < startFiles) fillShelf(shelf, random, 1)
    shelves.push(shelf)
  }
  return shelves
}

/** Scans all or what changed, and returns the faults. */
async function scanShelf(
  all: Catalog,
  shelf: Shelf,
  known: Known,
  random: Random,
): Promise<string[]> {
  const { root, id } = shelf
  const paths = [...shelf.changed]
    .filter(path => path.startsWith(`${root}/`))
    .map(path => relative(root, path))
  // A root that was renamed and took its name back has changes under the other name.
  const areAllKnown = root === shelf.scannedRoot && paths.length === shelf.changed.size
  const isPartial = areAllKnown && paths.length > 0 && random.chance(0.3)
  const scan = await openTestLibrary(all, { id, root }).scan({
    paths: isPartial ? paths : [],
    options: { confirmMissing: await isMuchGone(all, shelf, known) },
  })
  shelf.changed.clear()
  shelf.scannedRoot = root
  if (scan.state !== 'completed') return [`the scan is ${scan.state}: ${scan.message}`]
  return await verifyShelf(all.sql, shelf, known)
}

/** Whether enough files left the library to require confirmation. */
async function isMuchGone({ sql }: Catalog, { id, root }: Shelf, { owners }: Known) {
  const present = await sql<{ id: string }[]>`
    select id from book where library_id = ${id} and missing_at is null`
  const inodes = new Set(listTree(root).files.map(file => statSync(file).ino))
  const gone = present.filter(book => !inodes.has(owners.get(book.id)!))
  return gone.length > present.length * 0.2
}
