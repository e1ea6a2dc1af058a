// The account of the picture and what it has read.
import { createClient } from '../../test/kit/http/client.ts'
import type { Credentials } from '../../test/kit/web/sign-in.ts'

const reader: Credentials = { username: 'ana', password: 'correct horse battery' }

/** Books that were begun, the latest last: series, number, how far. */
const begun: [string, number, number][] = [
  ['Winter Arithmetic', 1, 0.12],
  ['Clockwork for Beginners', 1, 0.66],
  ['Harrow Street', 2, 0.8],
  ['The Tide Tables', 1, 0.45],
  ['Nine Days of Rain', 1, 0.4],
  ['Orbit of Glass', 3, 0.7],
  ['A Field Guide to Invisible Birds', 1, 0.35],
  ['Kitsune Post', 4, 0.22],
  ['The Lantern Keepers', 5, 0.58],
]

/** How many books of a series were read before, the latest series last. */
const finished: [string, number][] = [
  ['Small Engines', 1],
  ['Harrow Street', 1],
  ['Orbit of Glass', 2],
  ['Kitsune Post', 3],
  ['The Lantern Keepers', 4],
  ['The Cloud Cartel', 1],
  ['Rooftop Cats', 2],
  ['Crown of Nettles', 1],
  ['Salt & Iron', 2],
  ['Koi & Sons', 1],
  ['Moss Kingdom', 2],
  ['Paper Satellites', 1],
  ['Captain Vesper', 4],
]

type Book = { id: string; seriesId: string; seriesName: string; number: string; pageCount: number }

/** Creates the account and reads. `seriesId` is that of the series with the most progress. */
export async function createReader(base: string) {
  const anonymous = createClient(base, {})
  await anonymous.post('/setup/initialize', { ...reader, email: 'ana@example.org' })
  const { body } = await anonymous.post('/auth/login', reader)
  const client = createClient(base, { authorization: `Bearer ${body.accessToken}` })
  const { body: books } = await client.get<{ data: Book[] }>('/books?pageSize=500')
  const find = (series: string, number: number) => {
    const found = books.data.filter(book => book.seriesName === series)
    const [one] = found.filter(book => found.length === 1 || Number(book.number) === number)
    if (!one) throw new Error(`${series} has no book ${number}`)
    return one
  }
  for (const [series, count] of finished)
    for (let number = 1; number <= count; number++)
      await client.put(`/books/${find(series, number).id}/progress`, { isCompleted: true })
  for (const [series, number, share] of begun) {
    const { id, pageCount } = find(series, number)
    await client.put(`/books/${id}/progress`, { currentPage: Math.ceil(pageCount * share) })
  }
  return { ...reader, seriesId: find('The Lantern Keepers', 1).seriesId }
}
