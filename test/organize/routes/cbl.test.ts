// Read lists from CBL files: lists of the shapes that are shared on the web, with the match of every entry.
import t from 'tap'
import { hideSeries } from '../../kit/accounts.ts'
import { type CblBook, cblFile } from '../../kit/files/cbl.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

type Facts = { series: string; number?: string; volume?: number; year?: number; title?: string }
const file = ({ series, number, volume, year, title }: Facts) => {
  const element = (name: string, value: unknown) =>
    value === undefined ? '' : `<${name}>${value}</${name}>`
  return comic({
    pages: 1,
    info: `<?xml version="1.0"?><ComicInfo>${element('Series', series)}${element('Number', number)}${element('Volume', volume)}${element('Year', year)}${element('Title', title)}</ComicInfo>`,
  })
}
const run = (folder: string, series: string, volume: number, numbers: string[]) =>
  numbers.map((number, i): [string, Buffer] => [
    `${folder}/${series.replaceAll('/', '-')} ${number.replace('/', '-')}.cbz`,
    file({ series, number, volume, year: volume + Math.floor(i / 12) }),
  ])
const oneTo = (last: number) => Array.from({ length: last }, (_, i) => String(i + 1))

const all = await startApi(t)
const { sql } = all
const admin = await all.createUser('admin')
const limited = await all.createUser('maintainer')
const library = await createTestLibrary(
  t,
  all,
  Object.fromEntries<Buffer>([
    ...run('Batman (1940)', 'Batman', 1940, oneTo(4)),
    ...run('Batman (2011)', 'Batman', 2011, [...oneTo(14), '23.1', '0']),
    ...run('Batman (2016)', 'Batman', 2016, oneTo(3)),
    ...run('Batman Annual (2012)', 'Batman Annual', 2012, oneTo(2)),
    ...run('Detective Comics', 'Detective Comics', 2011, oneTo(3)),
    [
      'Detective Comics/Annual.cbz',
      file({ series: 'Detective Comics', number: 'Annual 1', volume: 2011, year: 2012 }),
    ],
    ...run('The Sandman (1989)', 'The Sandman', 1989, oneTo(3)),
    ...run('Astérix', 'Astérix', 1961, oneTo(2)),
    ...run('Spider-Man', 'Spider-Man/Deadpool', 2016, oneTo(2)),
    ...run('Avengers (2013)', 'Avengers', 2013, ['1', '1.MU', '½', '-1']),
    ...run('Batman and Robin', 'Batman & Robin', 2009, oneTo(2)),
    [
      'Killing Joke/Killing Joke.cbz',
      file({ series: 'Batman: The Killing Joke', volume: 1988, year: 1988 }),
    ],
    ...run('Secret Wars', 'Secret Wars', 2015, oneTo(2)),
    ...run('Twice A', 'Twice', 2000, ['1']),
    ...run('Twice B', 'Twice', 2000, ['1']),
    ...run('進撃の巨人', '進撃の巨人', 2009, oneTo(2)),
  ]),
)
await library.scan()
const secretWars = (await library.books()).filter(book => book.series === 'Secret Wars')
await hideSeries(sql, limited.id, [secretWars[0]!.seriesId])
const [killingJoke] = (await library.books()).filter(book => book.folder === 'Killing Joke')
await admin.post(`/books/${killingJoke!.id}/external-ids`, {
  source: 'comicvine',
  externalId: '77',
})
const [sandman] = await sql<{ id: string }[]>`select id from series where title = 'The Sandman'`
await admin.patch(`/series/${sandman!.id}/metadata`, {
  alternateTitles: [{ label: 'de', title: 'Der Sandmann' }],
})

async function upload(bytes: Buffer, { query = '', by = admin } = {}) {
  const form = new FormData()
  form.set('file', new Blob([bytes as never]), 'list.cbl')
  const response = await fetch(`${all.base}/api/v1/readlists/import${query}`, {
    method: 'POST',
    headers: { 'x-api-key': by.key },
    body: form,
  })
  return { status: response.status, body: (await response.json()) as any }
}

/** `=` exact, `~` alternative, `-` missing, followed by the folder and the number. */
const folders = new Map(
  (await library.books()).map(book => [book.id, Buffer.from(book.folder, 'latin1').toString()]),
)
const shown = (entries: any[]) =>
  entries.map(({ match, book }) => {
    if (match === 'missing') return '-'
    return `${match === 'exact' ? '=' : '~'}${folders.get(book.id)} ${book.number ?? ''}`.trim()
  })

const b = (series: string, number?: string, volume?: number, year?: number): CblBook => ({
  series,
  ...(number === undefined ? {} : { number }),
  ...(volume === undefined ? {} : { volume }),
  ...(year === undefined ? {} : { year }),
})

const lists: Record<string, [CblBook[], string[]]> = {
  'volume years choose the series': [
    [b('Batman', '1', 2011, 2011), b('Batman', '1', 2016, 2016), b('Batman', '1', 1940, 1940)],
    ['=Batman (2011) 1', '=Batman (2016) 1', '=Batman (1940) 1'],
  ],
  'years of books choose it without a volume': [
    [b('Batman', '2', undefined, 2011), b('Batman', '3', undefined, 2016)],
    ['=Batman (2011) 2', '=Batman (2016) 3'],
  ],
  'order of an event over several series': [
    [b('Detective Comics', '2', 2011), b('Batman', '2', 2011), b('Detective Comics', '3', 2011)],
    ['=Detective Comics 2', '=Batman (2011) 2', '=Detective Comics 3'],
  ],
  'several without a year': [[b('Batman', '4')], ['~Batman (1940) 4']],
  'two series are alike': [[b('Twice', '1', 2000, 2000)], ['~Twice A 1']],
  'annuals as a series of their own': [
    [b('Batman Annual', '1', 2012, 2012), b('Batman Annual', '2', 2012)],
    ['=Batman Annual (2012) 1', '=Batman Annual (2012) 2'],
  ],
  'annuals by format': [
    [{ ...b('Batman', '1', 2012, 2012), format: 'Annual' }],
    ['=Batman Annual (2012) 1'],
  ],
  'annuals among the issues': [
    [b('Detective Comics Annual', '1', 2011, 2012), b('Detective Comics', '1', 2011)],
    ['=Detective Comics Annual 1', '=Detective Comics 1'],
  ],
  'annuals by number': [
    [b('Detective Comics', 'Annual 1', 2011), b('Batman', 'Annual #2', 2012)],
    ['=Detective Comics Annual 1', '=Batman Annual (2012) 2'],
  ],
  'numbers that do not exist': [
    [b('Batman', '900', 2011), b('Batman', '5', 2011), b('Robin', '1', 1993)],
    ['-', '=Batman (2011) 5', '-'],
  ],
  'decimals and zero': [
    [b('Batman', '23.1', 2011), b('Batman', '0', 2011), b('Batman', '014', 2011)],
    ['=Batman (2011) 23.1', '=Batman (2011) 0', '=Batman (2011) 14'],
  ],
  'unusual numbers': [
    [
      b('Avengers', '1.MU', 2013),
      b('Avengers', '½', 2013),
      b('Avengers', '-1', 2013),
      b('Avengers', '0.5', 2013),
    ],
    ['=Avengers (2013) 1.MU', '=Avengers (2013) ½', '=Avengers (2013) -1', '=Avengers (2013) ½'],
  ],
  'articles, accents and punctuation': [
    [b('Sandman', '1', 1989), b('ASTERIX', '2', 1961), b('Spider Man / Deadpool', '1', 2016)],
    ['=The Sandman (1989) 1', '=Astérix 2', '=Spider-Man 1'],
  ],
  'and as a sign': [
    [b('Batman and Robin', '1', 2009), b('Batman & Robin', '2', 2009)],
    ['=Batman and Robin 1', '=Batman and Robin 2'],
  ],
  'the year in the name': [
    [b('Batman (2016)', '2'), b('Batman Vol. 2011', '3')],
    ['=Batman (2016) 2', '=Batman (2011) 3'],
  ],
  'another volume of the same time': [[b('Batman', '2', 2010, 2011)], ['~Batman (2011) 2']],
  'another volume of another time': [[b('Batman', '2', 1987, 1987)], ['-']],
  'a graphic novel without a number': [
    [b('Batman: The Killing Joke', '', 1988, 1988), b('Batman - The Killing Joke', '1', 1988)],
    ['=Killing Joke', '=Killing Joke'],
  ],
  'ids of Comic Vine and alternate titles': [
    [{ ...b('Another name', '9', 1900), comicVine: '77' }, b('Der Sandmann', '2', 1989)],
    ['=Killing Joke', '~The Sandman (1989) 2'],
  ],
  'other scripts, and an empty entry': [
    [b('進撃の巨人', '2', 2009), b('', ''), b('!!!', '1')],
    ['=進撃の巨人 2', '-', '-'],
  ],
}

t.test('lists import with the expected matches, and what is exported imports again', async t => {
  t.equal(Object.keys(lists).length, 20)
  for (const [name, [books, expected]] of Object.entries(lists)) {
    const { status, body } = await upload(cblFile(name, books))
    t.same(shown(body.entries), expected, name)
    const taken = [...new Set(body.entries.flatMap((e: any) => e.book?.id ?? []))]
    if (taken.length === 0) {
      t.match({ status, body }, { status: 200, body: { readListId: null } })
      continue
    }
    t.equal(status, 201)
    t.equal(body.name, name)
    const path = `/readlists/${body.readListId}`
    const list = async (at: string) =>
      (await admin.get(`${at}/books`)).body.data.map((one: any) => one.id) as string[]
    t.same(await list(path), taken)
    const exported = await fetch(`${all.base}/api/v1${path}/cbl`, {
      headers: { 'x-api-key': admin.key },
    })
    t.match(exported.headers.get('content-disposition'), /\.cbl"/)
    const text = await exported.text()
    const again = await upload(Buffer.from(text), { query: '?name=Again' })
    t.equal(again.body.exact, taken.length)
    t.same(await list(`/readlists/${again.body.readListId}`), taken, 'the same list')
    await admin.delete(`/readlists/${again.body.readListId}`)
  }
})

t.test('reports, refusals and restricted accounts', async t => {
  const books = [b('Secret Wars', '1', 2015), b('Twice', '1', 2000)]
  const before = (await admin.get('/readlists')).body.total
  const report = await upload(cblFile('Report', books), { query: '?dryRun=true' })
  t.match(report, { status: 200, body: { exact: 1, alternative: 1, missing: 0, readListId: null } })
  t.equal(report.body.entries[1].others.length, 1)
  t.equal((await admin.get('/readlists')).body.total, before)
  const strict = await upload(cblFile('Strict', books), { query: '?alternatives=false' })
  t.equal((await admin.get(`/readlists/${strict.body.readListId}`)).body.bookCount, 1)
  t.equal((await upload(cblFile('Strict', books))).status, 409)
  const own = await upload(cblFile('Own', [...books, { series: '', id: secretWars[0]!.id }]), {
    by: limited,
  })
  t.same(shown(own.body.entries), ['-', '~Twice A 1', '-'])
  t.notMatch(JSON.stringify(own.body), secretWars[0]!.id)
  for (const bytes of ['<a/>', 'no XML', '', '<!DOCTYPE r [<!ENTITY a "b">]><r>&a;</r>'])
    t.equal((await upload(Buffer.from(bytes))).status, 400, bytes)
  const long = await upload(Buffer.alloc(8 * 1024 * 1024 + 1, '<ReadingList>'))
  t.match(long, { status: 400, body: { message: /larger than 8 MiB/ } })
  const [members] = await sql`select count(distinct book_id)::integer as n from read_list_book`
  for (const [operator, total] of [
    ['isTrue', members!.n],
    ['isFalse', (await admin.get('/books')).body.total - members!.n],
  ]) {
    const condition = { inReadList: { operator } }
    t.equal((await admin.post('/books/list', { condition })).body.total, total, operator)
  }
  const json = await admin.post('/readlists/import', {})
  t.equal(json.status, 415)
  const body = cblFile('As the body', books)
  const headers = { 'x-api-key': admin.key, 'content-type': 'application/xml; charset=utf-8' }
  const send = (path: string) =>
    fetch(`${all.base}/api/v1${path}`, { method: 'POST', headers, body: new Uint8Array(body) })
  const xml = await send('/readlists/import?dryRun=true')
  t.match(await xml.json(), { name: 'As the body', exact: 1, alternative: 1 })
  t.equal((await send('/readlists')).status, 415, 'other bodies are JSON')
})

t.test('the longest lists leave the server to others', { timeout: 60_000 }, async t => {
  const commas = (length: number) => ','.repeat(length)
  const lists = [
    [{ series: commas(4_000_000), number: '1' }],
    Array.from({ length: 6_000 }, () => ({ series: commas(500), number: commas(100) })),
  ]
  for (const books of lists) {
    let isDone = false
    const importing = upload(cblFile('Commas', books), { query: '?dryRun=true' }).finally(() => {
      isDone = true
    })
    let probes = 0
    for (; !isDone; probes++) await (await fetch(`${all.base}/health/live`)).arrayBuffer()
    t.match(await importing, { status: 200, body: { missing: books.length } })
    t.ok(probes > 20, `${probes} other requests meanwhile`)
  }
})
