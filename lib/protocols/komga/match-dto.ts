// Report of the Komga-compatible API about a ComicRack list: the books that match each of its entries.
import type { Viewer } from '../../accounts/viewer.ts'
import { component, list, nullable, record, type Static, Type } from '../../base/schema.ts'
import { readLists } from '../../organize/grouping/grouping.ts'
import { listGroupings } from '../../organize/grouping/list.ts'
import type { CblList } from '../../organize/read-list/cbl-file.ts'
import type { CblMatch, MatchedBook } from '../../organize/read-list/match-cbl.ts'
import type { WithServices } from '../../store/services.ts'
import { dateOf } from './values.ts'

export const MatchReport = component('ReadListRequestMatchDto', {
  readListMatch: component('ReadListMatchDto', { name: Type.String(), errorCode: Type.String() }),
  requests: list(
    component('ReadListRequestBookMatchesDto', {
      request: record({ series: list(Type.String()), number: Type.String() }),
      matches: list(
        record({
          series: record({
            seriesId: Type.String(),
            title: Type.String(),
            releaseDate: nullable(Type.String({ format: 'date' })),
          }),
          books: list(
            record({ bookId: Type.String(), number: Type.String(), title: Type.String() }),
          ),
        }),
      ),
    }),
  ),
  errorCode: Type.String(),
})

/** Komga's code for a read list name that already exists. */
const nameExists = 'ERR_1009'

export async function matchReport(
  db: WithServices,
  viewer: Viewer,
  { name, entries }: CblList,
  matches: readonly CblMatch[],
): Promise<Static<typeof MatchReport>> {
  const title = name ?? ''
  return {
    readListMatch: {
      name: title,
      errorCode: (await isTaken(db, viewer, title)) ? nameExists : '',
    },
    requests: entries.map(({ series, number }, i) => ({
      request: { series: [series], number },
      matches: bySeries(matches[i]!),
    })),
    errorCode: '',
  }
}

async function isTaken(db: WithServices, viewer: Viewer, name: string): Promise<boolean> {
  if (name === '') return false
  const { rows } = await listGroupings(db, viewer, readLists, {
    ...{ search: [name], withEmpty: true, page: 1, pageSize: 100 },
  })
  return rows.some(row => row.name.toLowerCase() === name.toLowerCase())
}

function bySeries({ book, others }: CblMatch) {
  const books = Map.groupBy([...(book ? [book] : []), ...others], ({ seriesId }) => seriesId)
  return [...books.values()].map((members: MatchedBook[]) => {
    const { seriesId, seriesTitle, year } = members[0]!
    return {
      series: { seriesId, title: seriesTitle, releaseDate: dateOf(year, null, null) },
      books: members.map(({ id, number, title }) => ({ bookId: id, number: number ?? '', title })),
    }
  })
}
