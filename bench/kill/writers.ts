// Writers of a crash test: sessions, KOReader positions, marks and bulk changes, lists of books and series. Each has an
// account of its own and a plain model of what it wrote; what was not acknowledged is sent again.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { insertAccount } from '../../test/kit/accounts.ts'
import type { Random } from '../../test/kit/random.ts'
import { koreaderWriter } from './koreader-writer.ts'
import { listWriter } from './list-writer.ts'
import { markWriter } from './mark-writer.ts'
import type { Requests } from './requests.ts'
import { sessionWriter } from './session-writer.ts'
import { type Followed, writerPrefix } from './truth.ts'
import { wantedWriter } from './wanted-writer.ts'
import type { Send, Writer } from './writer.ts'

const kinds = {
  sessions: sessionWriter,
  koreader: koreaderWriter,
  marks: markWriter,
  lists: listWriter,
  wanted: wantedWriter,
}

type Options = { bases: string[]; library: string; random: Random; sql: Sql }

export async function startWriters(requests: Requests, { bases, library, random, sql }: Options) {
  let books: readonly Followed[] = []
  let isOver = false
  const writers: [string, Writer][] = []
  for (const [name, create] of Object.entries(kinds)) {
    const { id, key } = await insertAccount(sql, 'admin', { username: `${writerPrefix}${name}` })
    const send: Send = (path, options) => requests.untilDone(bases, key, path, options)
    writers.push([name, create({ send, random, accountId: id, library, books: () => books })])
  }
  const done = writers.map(async ([, writer]) => {
    while (!isOver) {
      await writer.write()
      await sleep(60)
    }
  })
  return {
    follow(followed: readonly Followed[]) {
      books = followed
    },
    async end() {
      isOver = true
      await Promise.all(done)
    },
    counts: () => Object.fromEntries(writers.map(([name, { count }]) => [name, count()])),
    async compare(sql: Sql): Promise<string[]> {
      const problems: string[] = []
      for (const [name, writer] of writers)
        problems.push(...(await writer.compare(sql)).map(problem => `${name}: ${problem}`))
      return problems
    },
  }
}
