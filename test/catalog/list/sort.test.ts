// Parser of sort parameters.
import t from 'tap'
import { parseBookSort, parseSeriesSort } from '../../../lib/catalog/list/sort.ts'

t.test('both dialects and all aliases are parsed', async t => {
  t.same(parseBookSort('file_size,DESC'), { sort: 'size', direction: 'desc' })
  t.same(parseBookSort('file_size', 'desc'), { sort: 'size', direction: 'desc' })
  t.same(parseBookSort('file_size,asc', 'desc'), { sort: 'size', direction: 'asc' })
  t.same(parseBookSort('date_added'), parseBookSort('created_at,asc'))
  t.same(parseSeriesSort('date_read,desc'), { sort: 'read', direction: 'desc' })
  t.same(parseSeriesSort('relevance'), { sort: 'relevance', direction: 'asc' })
  t.same(parseBookSort(undefined, 'desc'), { sort: undefined, direction: 'desc' })
})

t.test('unknown values give the default order', async t => {
  for (const [sort, order] of [
    ['wings,desc'],
    ['title,up'],
    ['title', 'up'],
    ['constructor,asc'],
    [],
  ])
    t.same(parseBookSort(sort, order), { sort: undefined, direction: 'asc' })
})
