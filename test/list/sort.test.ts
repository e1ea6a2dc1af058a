// Parser of sort parameters.
import t from 'tap'
import {
  bookSortNames,
  parseBookSort,
  parseSeriesSort,
  seriesSortNames,
} from '../../lib/list/sort.ts'

t.test('both dialects and all aliases are parsed', async t => {
  t.same(parseBookSort('file_size,desc'), { sort: 'size', direction: 'desc' })
  t.same(parseBookSort('fileSize,desc'), { sort: 'size', direction: 'desc' })
  t.same(parseBookSort('file_size', 'desc'), { sort: 'size', direction: 'desc' })
  t.same(parseBookSort('file_size,asc', 'desc'), { sort: 'size', direction: 'asc' })
  t.same(parseBookSort('date_added'), parseBookSort('created_at,asc'))
  t.same(parseSeriesSort('date_read,desc'), { sort: 'read', direction: 'desc' })
  t.same(parseSeriesSort('relevance'), { sort: 'relevance', direction: 'asc' })
  t.same(parseBookSort(undefined, 'desc'), { sort: undefined, direction: 'desc' })
  for (const name of bookSortNames) t.ok(parseBookSort(name).sort, name)
  for (const name of seriesSortNames) t.ok(parseSeriesSort(name).sort, name)
})

t.test('an order is named as the field of the record that it sorts by', async t => {
  for (const name of ['title', 'titleSort', 'seriesName', 'number', 'createdAt', 'updatedAt'])
    t.ok(parseBookSort(name).sort, name)
  for (const name of ['fileSize', 'pageCount', 'modifiedAt']) t.ok(parseBookSort(name).sort, name)
  for (const name of ['title', 'titleSort', 'year', 'bookCount', 'pageCount', 'fileSize'])
    t.ok(parseSeriesSort(name).sort, name)
  for (const name of ['lastReadAt', 'userRating', 'createdAt', 'updatedAt'])
    t.ok(parseSeriesSort(name).sort, name)
})

t.test('the names of the specification are among them', async t => {
  const books = ['title', 'number', 'file_size', 'page_count', 'created_at', 'modified_at']
  const series = ['name', 'date_added', 'date_updated', 'release_date', 'date_read', 'book_count']
  t.same(
    books.filter(name => !bookSortNames.includes(name)),
    [],
  )
  t.same(
    [...series, 'file_size', 'filename', 'page_count'].filter(n => !seriesSortNames.includes(n)),
    [],
  )
})
