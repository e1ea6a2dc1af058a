// Collections and read lists of the Komga-compatible API, with the members that the caller sees.
import type { Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import { component, list, type Static, Type } from '../../base/schema.ts'
import { listSeries } from '../../list/list-series.ts'
import { filterOfRule } from '../../organize/collection/rules.ts'
import {
  collections,
  type Grouping,
  readLists,
  tablesOf,
} from '../../organize/grouping/grouping.ts'
import { findGrouping, type GroupingRow, groupingRows } from '../../organize/grouping/list.ts'
import { maxMembers } from '../../organize/grouping/members.ts'
import type { WithServices } from '../../store/services.ts'
import { flag, type Reader, texts, times, utcSeconds } from './values.ts'

const common = {
  ...texts('id', 'name'),
  ordered: flag(),
  ...times('createdDate', 'lastModifiedDate'),
  filtered: flag(),
}

export const CollectionDto = component('CollectionDto', {
  ...common,
  seriesIds: list(Type.String()),
})
export type CollectionDto = Static<typeof CollectionDto>

export const ReadListDto = component('ReadListDto', {
  ...common,
  summary: Type.String(),
  bookIds: list(Type.String()),
})
export type ReadListDto = Static<typeof ReadListDto>

type ToDtos<T> = (db: WithServices, viewer: Viewer, rows: readonly GroupingRow[]) => Promise<T[]>

const dtosOf = <T>(grouping: Grouping, toDtos: ToDtos<T>) => ({
  /** In the order of the ids, also without members that the caller sees; each rule costs a list. */
  load: async (db: WithServices, { viewer }: Reader, ids: readonly string[]) =>
    toDtos(db, viewer, await groupingRows(db.sql, viewer, grouping, ids)),
  /** Throws NotFound unless it exists and the caller sees something in it or may add to it. */
  async find(db: WithServices, { viewer, isAdmin }: Reader, id: string) {
    const row = await findGrouping(db, viewer, grouping, { id, withEmpty: isAdmin })
    const [dto] = await toDtos(db, viewer, [row])
    return dto!
  },
})

export const collectionDtos = dtosOf(collections, toCollections)
export const readListDtos = dtosOf(readLists, toReadLists)

async function toCollections(db: WithServices, viewer: Viewer, rows: readonly GroupingRow[]) {
  const membersOf = await members(db.sql, viewer, collections, rows)
  const made: CollectionDto[] = []
  for (const row of rows) {
    const { shown, total } =
      row.rule === null ? membersOf(row.id) : await selectedBy(db, viewer, row.rule)
    made.push({ ...commonOf(row), seriesIds: shown, filtered: shown.length < total })
  }
  return made
}

async function toReadLists({ sql }: WithServices, viewer: Viewer, rows: readonly GroupingRow[]) {
  const membersOf = await members(sql, viewer, readLists, rows)
  return rows.map((row): ReadListDto => {
    const { shown, total } = membersOf(row.id)
    const summary = row.summary ?? ''
    return { ...commonOf(row), summary, bookIds: shown, filtered: shown.length < total }
  })
}

const commonOf = ({ id, name, ordered, createdAt, updatedAt }: GroupingRow) => ({
  ...{ id, name, ordered },
  createdDate: utcSeconds(createdAt),
  lastModifiedDate: utcSeconds(updatedAt),
})

type Members = { shown: string[]; total: number }

/** The members of all of them, in order, in one statement. */
async function members(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  rows: readonly GroupingRow[],
): Promise<(id: string) => Members> {
  const { m, owner, member } = tablesOf(sql, grouping)
  const ids = rows.map(row => row.id)
  const found = await sql<({ id: string } & Members)[]>`
    select m.${owner} as id, count(*) as total,
      coalesce(array_agg(m.${member} order by m.position, m.${member})
        filter (where ${grouping.isShown(sql, viewer)}), '{}') as shown
    from ${m} m where m.${owner} = any(${ids}::uuid[]) group by m.${owner}`
  const byId = new Map(found.map(row => [row.id, row]))
  return id => byId.get(id) ?? { shown: [], total: 0 }
}

/** Series that a rule does not select for the caller do not count as hidden members. */
async function selectedBy(db: WithServices, viewer: Viewer, rule: unknown): Promise<Members> {
  const { ids } = await listSeries(db, viewer, {
    ...{ filter: filterOfRule(rule), onlyWithVisibleBooks: true },
    ...{ sort: 'title', direction: 'asc', page: 1, pageSize: maxMembers },
  })
  return { shown: ids, total: ids.length }
}
