// How far a reader is, as reading apps tell each other (Readium locators in the progression of Cantook
// and Komga). The progress of the catalogue is the truth; what an app wrote is kept word for word beside
// it, but for addresses of ours, and told as long as nobody has read on elsewhere.
import type { JSONValue, Sql } from 'postgres'
import type { Viewer } from '../auth/viewer.ts'
import type { BookFile } from '../catalog/book/book-file.ts'
import { type Position, tryMoveTo } from '../catalog/progress/progress.ts'
import { Conflict, Unreadable } from '../errors.ts'
import { withoutEmpty } from './json/without-empty.ts'
import { keptLocator, shownLocator, withoutKeys } from './kept-locator.ts'
import { type GivenLocator, locatorAt, pageMeant, pageNamed, shareMeant } from './locator.ts'
import {
  type Locator,
  pageLocator,
  pagesOf,
  type Read,
  shareOfPage,
  stretchesOf,
  wholeFile,
} from './positions.ts'

export type Device = { id: string; name: string }

/** `locator` has what it had when it was given, but for what was empty in it. */
export type Progression = {
  modified: Date
  device: Device
  locator: GivenLocator
}

type Row = {
  page: number
  percentage: number | null
  isCompleted: boolean
  modified: Date
  device: Device | null
  locator: GivenLocator | null
}

/** The viewer's place, `by` being who tells of what no app has written; null before the book was begun. Throws Unavailable. */
export async function progressionOf(
  sql: Sql,
  viewer: Viewer,
  { read, by }: { read: Read; by: Device },
): Promise<Progression | null> {
  const [row] = await sql<Row[]>`
    select p.current_page as page, p.percentage, p.is_completed as "isCompleted",
      p.updated_at as modified, k.device, k.locator
    from progress p
    left join book_locator k on k.account_id = p.account_id and k.book_id = p.book_id
      and k.modified_at = p.updated_at
    where p.account_id = ${viewer.accountId} and p.book_id = ${read.file.id}`
  if (!row) return null
  const { modified, device, locator } = row
  if (device !== null && locator !== null) {
    const known = withoutKeys({ device, locator })
    return { modified, device: known.device, locator: shownLocator(known.locator, read.links) }
  }
  return { modified, device: by, locator: await locatorOf(row, read) }
}

/**
 * Moves the viewer to where the app says. Throws Conflict when what is stored is newer, Invalid for a
 * place that the book has not, NotFound, Unreadable, Unavailable.
 */
export async function moveBy(
  sql: Sql,
  viewer: Viewer,
  { read, given }: { read: Read; given: Progression },
): Promise<void> {
  const { modified } = given
  const { device, locator: written } = withoutKeys({ device: given.device, locator: given.locator })
  const locator = withoutEmpty(keptLocator(written)) as GivenLocator
  const bookId = read.file.id
  const position = { ...(await positionMeant(locator, read)), modified }
  const { isMoved } = await tryMoveTo(sql, viewer, {
    bookId,
    position,
    beside: tx => tx`
      insert into book_locator (account_id, book_id, modified_at, device, locator)
      select p.account_id, p.book_id, p.updated_at, ${tx.json(device)},
        ${tx.json(locator as JSONValue)}
      from progress p where p.account_id = ${viewer.accountId} and p.book_id = ${bookId}
      on conflict (account_id, book_id) do update set
        modified_at = excluded.modified_at, device = excluded.device, locator = excluded.locator`,
  })
  if (!isMoved) throw new Conflict('A newer place is stored')
}

async function positionMeant(locator: GivenLocator, { file, ...read }: Read): Promise<Position> {
  const { id, format, pageCount } = file
  if (format !== 'epub' || pageNamed(id, locator) !== null)
    return { currentPage: pageMeant(id, locator, pageCount) }
  try {
    const contents = await read.contents()
    const stretches = stretchesOf(id, contents, read.links)
    return { progressPercentage: shareMeant(locator, contents, stretches) }
  } catch (error) {
    const share = locator.locations?.totalProgression
    // Whoever has read it elsewhere knows better than the file that cannot be read here.
    if (!(error instanceof Unreadable) || share == null) throw error
    return { progressPercentage: share }
  }
}

async function locatorOf(row: Row, read: Read): Promise<Locator> {
  const { file, links } = read
  const share = shareOf(row, file)
  const whole = { ...wholeFile(file, links), locations: { totalProgression: share } }
  if (file.format === null) return whole
  if (file.format === 'epub') {
    try {
      return locatorAt(share, stretchesOf(file.id, await read.contents(), links))
    } catch (error) {
      if (error instanceof Unreadable) return whole
      throw error
    }
  }
  const pages = await pagesOf(read)
  if (pages.count === 0) return whole
  return pageLocator(read, Math.min(Math.max(row.page, 1), pages.count), pages)
}

function shareOf({ page, percentage, isCompleted }: Row, { format, pageCount }: BookFile): number {
  if (percentage !== null) return percentage
  if (pageCount === 0 || isCompleted) return Number(isCompleted)
  // The place in a text is where its page begins.
  return format === 'epub'
    ? shareOfPage(Math.max(0, page - 1), pageCount)
    : shareOfPage(page, pageCount)
}
