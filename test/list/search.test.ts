// Tests of what full-text searches of books and series find, and in which order: by the statement and by the index.
import t from 'tap'
import { unrestrictedViewer, type Viewer } from '../../lib/accounts/viewer.ts'
import { createBookIndex } from '../../lib/list/index/books/book-index.ts'
import { listBooks } from '../../lib/list/list-books.ts'
import { listSeries } from '../../lib/list/list-series.ts'
import { searchCondition } from '../../lib/list/sql/search.ts'
import { parseSearchQuery } from '../../lib/media/name/search-text.ts'
import { createServices } from '../../lib/store/services.ts'
import { createDatabase } from '../kit/db.ts'
import { storeFacts } from './catalog-facts.ts'
import { environmentOf } from './environment.ts'
import { makeTitledFacts } from './titled-facts.ts'

const spiders = [
  'Spider-Man',
  'Spiderman',
  'Spider Man Blue',
  'Spider-Man 2099',
  'The Amazing Spider-Man',
  'Marvel Spiderman',
]
const sandmen = ['Sandman', 'Sandman, The', 'The Sandman', 'Sandman Mystery Theatre']
const titles = [
  ...[...spiders, ...sandmen],
  ...['Batman', 'Superman', 'Batman vs. Superman', 'BatmanVsSuperman', 'Batman 2'],
  ...['Iron Man 3', 'Ironman3', 'Iron Man 4', 'The Art of War', 'Comic Attack', 'Star Trek'],
  ...[
    'Agents of S.H.I.E.L.D.',
    'Café-Crème',
    'Pokémon',
    '進撃の巨人',
    '進撃 巨人',
    'The The',
    'A-Z',
  ],
]
const { sql } = await createDatabase(t)
const facts = makeTitledFacts(titles)
const [account] = facts.accounts as [string]
const everyone = unrestrictedViewer(account)
for (const { series, tags } of facts.books)
  for (const labels of [tags, series.ownTags!]) labels.push('Slice-of-Life')
Object.assign(facts.books[titles.indexOf('Batman')]!, { ageRating: 18, author: 'Jean-Luc Picard' })
await storeFacts(sql, facts)

const titleOf = new Map(
  facts.books.flatMap(({ id, series, title }) => [
    [id, title],
    [series.id, title],
  ]),
)
const db = { sql, services: createServices(sql) }
const index = createBookIndex(environmentOf(sql), { pause: 0 })

/** Titles by relevance, which are the same in all lists. */
async function search(text: string, viewer: Viewer = everyone): Promise<string[]> {
  const request = { filter: null, text, page: 1, pageSize: 100 }
  const books = await listBooks(db, viewer, request)
  const list = {
    ...({ sort: 'relevance', direction: 'asc', search: parseSearchQuery(text) } as const),
    ...({
      filter: { of: 'book', condition: searchCondition(text) },
      offset: 0,
      limit: 100,
    } as const),
  }
  index.refresh(viewer, list)
  await index.idle()
  t.same(await index.page(sql, viewer, list), books, `the index finds ${text}`)
  const series = await listSeries(db, viewer, { ...request, onlyWithVisibleBooks: true })
  const [found, same] = [books, series].map(({ ids }) => ids.map(id => titleOf.get(id)!))
  t.same(same, found, `series by ${text}`)
  return found!
}

async function finds(cases: Record<string, string[]>) {
  for (const [text, expected] of Object.entries(cases))
    t.same((await search(text)).sort(), [...expected].sort(), text)
}

t.before(async () => {
  const table = { filter: null, sort: 'title', direction: 'asc', search: null } as const
  index.refresh(everyone, { ...table, offset: 0, limit: 1 })
  await index.idle()
})

t.test('words with a hyphen, with a space and as one are the same', async () => {
  const shield = ['Agents of S.H.I.E.L.D.']
  await finds({
    ...{ spiderman: spiders, 'spider man': spiders, 'spider-man': spiders, 'SPIDER‐MAN': spiders },
    'amazing spiderman': ['The Amazing Spider-Man'],
    ...{ cafecreme: ['Café-Crème'], 'cafe creme': ['Café-Crème'], 'CAFÉ‑CRÈME': ['Café-Crème'] },
    ...{ shield, 's.h.i.e.l.d.': shield, 'agents shield': shield },
    ...{ pokemon: ['Pokémon'], startrek: ['Star Trek'], 進撃巨人: ['進撃 巨人'] },
    sliceoflife: titles,
  })
})

t.test('titles of several words are found as one word, and the other way around', async () => {
  const both = ['Batman vs. Superman', 'BatmanVsSuperman']
  const third = ['Iron Man 3', 'Ironman3']
  await finds({
    ...{ 'batman vs superman': both, batmanvssuperman: both, 'Batman-vs-Superman': both },
    ...{ 'iron man 3': third, ironman3: third, 'ironman 3': third, 'iron-man 3': third },
    batmanvs: both,
  })
})

t.test('articles are found with and without', async () => {
  await finds({
    ...{ sandman: sandmen, 'the sandman': sandmen, 'Sandman, The': sandmen, 'a sandman': sandmen },
    'the spiderman': spiders,
    thesandman: ['The Sandman'],
    'art war': ['The Art of War'],
    'the the': titles.filter(title => /the/i.test(title)),
  })
})

t.test('words that only begin or end within others do not match together', async () => {
  await finds({
    ...{
      heart: [],
      start: [],
      cat: [],
      mica: [],
      anman: [],
      piderman: ['Spiderman', 'Marvel Spiderman'],
    },
    ...{ spidermanx: [], 'spiderman sandman': [], 'spiderman 2': ['Spider-Man 2099'], az: [] },
    ...{ manspider: [], ironman34: [], 'zzz the': [], 'the zzz': [] },
  })
})

t.test('the title itself comes first, then what has the words as they are', async () => {
  t.same(await search('spiderman'), [
    ...['Spiderman', 'Marvel Spiderman', 'Spider-Man'],
    ...['Spider Man Blue', 'Spider-Man 2099', 'The Amazing Spider-Man'],
  ])
  t.same(await search('Spider Man'), [
    ...['Spider-Man', 'Spider Man Blue', 'Spider-Man 2099'],
    ...['The Amazing Spider-Man', 'Spiderman', 'Marvel Spiderman'],
  ])
  t.same((await search('the sandman'))[0], 'The Sandman')
  t.same((await search('the sandman')).at(-1), 'Sandman Mystery Theatre')
  t.same((await search('sandman'))[0], 'Sandman')
  t.same((await search('sandman')).at(-1), 'Sandman Mystery Theatre')
})

t.test('what an account may not see is not found by joined words either', async () => {
  const child = { ...everyone, ageLimit: 12 }
  t.same(await search('jeanluc'), ['Batman'])
  t.same(await search('jeanluc', child), [])
  const seen = ['Batman vs. Superman', 'BatmanVsSuperman']
  t.same((await search('batmanvssuperman', child)).sort(), seen)
})
