// Synthetic accounts with reading progress: series begun, most of them finished.

import { newId } from '../../lib/base/id.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Random } from '../../test/kit/random.ts'
import type { SeriesMade } from './catalog.ts'
import { openCopies } from './copy.ts'

/** Three of the accounts have `heavy` rows of progress each, the others 500, as far as there are books. */
export async function makeReaders(
  sql: Sql,
  random: Random,
  { series, heavy }: { series: SeriesMade[]; heavy: number },
) {
  const accounts = Array.from({ length: 20 }, (_, i) => ({
    id: newId(),
    username: `reader${i + 1}`,
    email: `reader${i + 1}@example.org`,
    password_hash: '-',
    role: i === 0 ? 'admin' : 'reader',
  }))
  await sql`insert into account ${sql(accounts)}`
  const copies = await openCopies(sql, {
    progress: [
      'account_id',
      'book_id',
      'current_page',
      'is_completed',
      'started_at',
      'updated_at',
      'completed_at',
    ],
  })
  for (const [i, account] of accounts.entries()) {
    const wanted = Math.min(i < 3 ? heavy : 500, heavy)
    const begun = new Set<SeriesMade>()
    for (let rows = 0; rows < wanted && begun.size < series.length; ) {
      const one = random.pick(series)
      if (begun.has(one)) continue
      begun.add(one)
      for (const row of readingOf(random, one).slice(0, wanted - rows)) {
        await copies.row('progress', [account.id, ...row])
        rows += 1
      }
    }
  }
  await copies.end()
}

const day = 86_400_000

type Row = [string, number, boolean, Date, Date, Date | null]

function readingOf(random: Random, { books }: SeriesMade): Row[] {
  const kind = random.next()
  // Six of ten finished, three in the middle, one just begun.
  const share = kind < 0.6 ? 1 : kind < 0.9 ? random.next() : 0
  const finished = Math.floor(books.length * share)
  let at = Date.UTC(2022, 0, 1) + random.below(1400) * day
  const rows: Row[] = []
  for (const [i, book] of books.entries()) {
    if (book === '' || i > finished) continue
    const done = i < finished
    const begun = new Date((at += random.below(day)))
    const ended = new Date((at += 3_600_000))
    rows.push([book, done ? 100 : random.below(15), done, begun, ended, done ? ended : null])
  }
  return rows
}
