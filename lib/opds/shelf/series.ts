// The books of a series in reading order, with facets: what was read, tags, other orders.
import { type ReadStatus, readStatuses } from '../../catalog/list/filter-fields.ts'
import {
  type Choice,
  type ChoiceSort,
  choiceSorts,
  chooseBooks,
} from '../../catalog/series/book-selection.ts'
import { seriesById } from '../../catalog/series/series-record.ts'
import { Invalid, NotFound } from '../../errors.ts'
import { Id, maybe, oneOf, text } from '../../schema.ts'
import { acquisition, type FacetGroup, type Query } from '../feed.ts'
import { publicationsByIds } from '../publication.ts'
import { allSeries } from './series-list.ts'
import { pagingOf, type Shelf } from './shelf.ts'
import { mostWords } from './words.ts'

export const oneSeries: Shelf = {
  path: '/series/{id}',
  summary: 'The books of a series, by number',
  params: Id.properties,
  query: {
    read: maybe(oneOf(readStatuses, { description: 'Only those of this reading status.' })),
    tag: maybe(text(mostWords, { description: 'Only those with this tag.' })),
    sort: maybe(oneOf(choiceSorts, { default: 'number' })),
  },
  async find(asked) {
    const { sql, viewer, params, page, pageSize } = asked
    const { read = null, tag = null, sort = 'number' } = asked.query as Chosen
    if (tag?.includes('\0')) throw new Invalid('The tag holds a null character')
    const wanted = { seriesId: params.id!, read, tag, sort }
    const [series, choice] = await Promise.all([
      seriesById(sql, viewer, params.id!),
      chooseBooks(sql, viewer, { ...wanted, page, pageSize }),
    ])
    // Not there for those who see none of its books.
    if (series.bookCount === 0) throw new NotFound('Series not found')
    const query = queryOf({ ...wanted, tag: choice.tags.find(t => t.isAsked)?.name ?? tag })
    return acquisition({
      ...{ path: `/series/${series.id}`, query, id: series.id, title: series.title },
      ...{ up: allSeries, updated: new Date(series.updatedAt), isMixed: false },
      paging: pagingOf(asked, choice.total),
      books: await publicationsByIds(sql, viewer, choice.ids),
      facets: facetsOf(choice, { read, tag, sort }),
    })
  },
}

type Chosen = { read?: ReadStatus; tag?: string; sort?: ChoiceSort }
type Now = { read: ReadStatus | null; tag: string | null; sort: ChoiceSort }

const queryOf = ({ read, tag, sort }: Now): Query => ({
  read: read ?? undefined,
  tag: tag ?? undefined,
  sort: sort === 'number' ? undefined : sort,
})

const readNames = { unread: 'Unread', in_progress: 'In progress', read: 'Read' } as const
const sortNames = { number: 'Number', newest: 'Newest', title: 'Title' } as const

function facetsOf(choice: Choice, now: Now): FacetGroup[] {
  const facet = (title: string, change: Partial<Now>, count: number) => {
    const next = { ...now, ...change }
    const isActive = (Object.keys(change) as (keyof Now)[]).every(key => next[key] === now[key])
    return { title, query: queryOf(next), count, isActive }
  }
  const reading = [
    facet('All', { read: null }, choice.byRead.all),
    ...readStatuses.map(read => facet(readNames[read], { read }, choice.byRead[read])),
  ]
  const tags = tagsOf(choice, now).map(tag =>
    tag.isAsked
      ? { ...facet(tag.name, {}, tag.count), isActive: true }
      : facet(tag.name, { tag: tag.name }, tag.count),
  )
  const sorts = choiceSorts.map(sort => facet(sortNames[sort], { sort }, choice.total))
  return [
    { title: 'Read status', facets: reading },
    // Nothing to choose among where there is only "All".
    ...(tags.length > 0
      ? [{ title: 'Tag', facets: [facet('All', { tag: null }, choice.anyTag), ...tags] }]
      : []),
    { title: 'Sort', facets: sorts },
  ]
}

/** Those that lead to something, and the one asked for even if nothing has it. */
function tagsOf({ tags }: Choice, { tag }: Now): Choice['tags'] {
  const shown = tags.filter(one => one.count > 0 || one.isAsked)
  const isThere = tag === null || shown.some(one => one.isAsked)
  return isThere ? shown : [...shown, { name: tag, count: 0, isAsked: true }]
}
