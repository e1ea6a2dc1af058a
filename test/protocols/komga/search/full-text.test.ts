// Tests of Komga's full-text queries: joined words and articles, similar words, ranges, and what is read over.
import t from 'tap'
import { unrestrictedViewer } from '../../../../lib/accounts/viewer.ts'
import { findBooks, findSeries } from '../../../../lib/protocols/komga/search/find.ts'
import { refreshFirstRelease } from '../../../../lib/releases/first-release.ts'
import { createServices } from '../../../../lib/store/services.ts'
import { createDatabase } from '../../../kit/db.ts'
import { storeFacts } from '../../../list/catalog-facts.ts'
import { makeTitledFacts } from '../../../list/titled-facts.ts'

const titles = [
  'Batman',
  'Bat Lash',
  'Spider-Man',
  'The Sandman',
  'Naruto',
  '巨人',
  'Saga',
  'Empty',
]
const { sql } = await createDatabase(t)
const facts = makeTitledFacts(titles)
const [account] = facts.accounts as [string]
/** 2010, 2011 and so on; nothing is known of the last one. */
const yearOf = (i: number) => (titles[i] === 'Empty' ? null : 2010 + i)
for (const [i, book] of facts.books.entries()) {
  const year = yearOf(i)
  book.released = year === null ? null : year * 10_000 + 600
  Object.assign(book.series, {
    total: year === null ? null : i,
    ageRating: year === null ? null : i + 10,
  })
}
Object.assign(facts.books[titles.indexOf('Saga')]!, { ageRating: 18, author: 'Jean-Luc Picard' })
await storeFacts(sql, facts)
await refreshFirstRelease(
  sql,
  facts.series.map(({ id }) => id),
)
const titleOf = new Map(facts.books.flatMap(b => [b.id, b.series.id].map(id => [id, b.title])))
const viewer = unrestrictedViewer(account)

async function found(find: typeof findBooks, fullText: string, one = viewer) {
  const list = { condition: null, includeDeleted: false, fullText }
  const reader = { viewer: one, isAdmin: true } as Parameters<typeof findBooks>[1]
  const page = await find({ sql, services: createServices(sql) }, reader, {
    ...list,
    sort: [],
    seed: 1,
    offset: 0,
    limit: 100,
  })
  t.equal(page.total, page.ids.length)
  return page.ids.map(id => titleOf.get(id)!).sort()
}
const among = (from: number, to: number) => titles.slice(from - 2010, to - 2010 + 1).sort()

/** In lists of books and of series. */
async function finds(cases: Record<string, string[]>) {
  for (const [query, expected] of Object.entries(cases)) {
    t.same(await found(findBooks, query), [...expected].sort(), `books by ${query}`)
    t.same(await found(findSeries, query), [...expected].sort(), `series by ${query}`)
  }
}

t.test('words match as in other searches', async () => {
  const spider = ['Spider-Man']
  await finds({
    ...{
      spiderman: spider,
      'spider-man': spider,
      '"spider man"': spider,
      '-spiderman batman': ['Batman'],
    },
    ...{
      'the sandman': ['The Sandman'],
      'sandman, the': ['The Sandman'],
      'spiderman OR naruto': ['Naruto', ...spider],
    },
    ...{ zzz: [], 'spiderman naruto': [] },
  })
})

t.test('similar words have one letter more, less or other, or two in the other order', async () => {
  const [batman, spider, naruto] = [['Batman'], ['Spider-Man'], ['Naruto']]
  await finds({
    ...{
      'batmn~': batman,
      'batmman~': batman,
      'betman~': batman,
      'abtman~': batman,
      'batmam~1': batman,
    },
    ...{ 'atman~': batman, 'batmanx~2': batman, 'BÁTMN~': batman, '巨人力~': ['巨人'] },
    ...{ 'spidermn~': spider, 'spidr~': spider, 'nrauto~': naruto, 'narto~ -naruto': [] },
    ...{
      'title:batmn~': batman,
      'title:spidr~0.7': spider,
      'title:anna~': [],
      'anna~': titles.filter(title => title !== 'Saga'),
    },
    ...{
      'batmn~0': [],
      batmn: [],
      'btmn~': [],
      'bt~': [],
      '-batmn~ "bat"': ['Bat Lash'],
      '~': titles,
      '~2': titles,
    },
  })
})

t.test('phrases with a distance and weights are read as their words', async () => {
  await finds({
    ...{ '"man spider"~3': ['Spider-Man'], '"bat lash"~': ['Bat Lash'], 'batman^2': ['Batman'] },
    ...{ '"naruto"^4 OR batman^0.5': ['Batman', 'Naruto'], 'title:"bat lash"~2': ['Bat Lash'] },
    '-"spider man"~3 man': ['Batman', 'The Sandman'],
  })
})

t.test('ranges of dates and numbers, with their bounds, without and open', async () => {
  const known = titles.filter(title => title !== 'Empty')
  await finds({
    'release_date:[2011 TO 2013]': among(2011, 2013),
    'release_date:{2011 TO 2013}': among(2012, 2012),
    'release_date:[2011 TO 2013}': among(2011, 2012),
    'release_date:{2011 TO 2013]': among(2012, 2013),
    'release_date:[2014 TO *]': among(2014, 2016),
    'release_date:[* TO 2011}': among(2010, 2010),
    'release_date:[* TO *]': known,
    'release_date:[ "2011"  TO  "2012" ]^2': among(2011, 2012),
    'release_date:[2011-07 TO 2013-05-31]': among(2012, 2012),
    'release_date:2012': among(2012, 2012),
    'release_date:2012-06': among(2012, 2012),
    'release_date:2012-07': [],
    'release_date:[2013 TO 2011]': [],
    'release_date:[a TO 2011]': [],
    'title:[a TO z]': [],
    '-release_date:[2011 TO 2016] -empty': among(2010, 2010),
    'release_date:[2011 TO 2013] spiderman': ['Spider-Man'],
    'release_date:[2010 TO 2010] OR release_date:{2015 TO *]': ['Batman', 'Saga'],
  })
  t.same(await found(findSeries, 'total_book_count:[1 TO 3}'), among(2011, 2012))
  t.same(await found(findSeries, 'age_rating:{14 TO *]'), among(2015, 2016))
  t.same(await found(findSeries, 'book_count:[1 TO 1]'), [...titles].sort())
  t.same(await found(findSeries, 'book_count:{1 TO *}'), [])
})

t.test('similar words do not find a series by what an account may not see', async () => {
  const child = { ...viewer, ageLimit: 17 }
  t.same(await found(findSeries, 'jeanlucc~ OR picardd~'), ['Saga'])
  t.same(await found(findSeries, 'jeanlucc~ OR picardd~', child), [])
  t.same(await found(findSeries, 'batmn~', child), ['Batman'])
})
