// Index of a dump: an SQLite file with the documents and their titles, built in one pass over the dump.
import { createReadStream, renameSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { normalizeSearchText } from '../../media/name/search-text.ts'
import type { ReadHit } from '../mapping/series.ts'

const maxLineBytes = 4 * 1024 * 1024
const batchLines = 5_000

type Build = {
  /** The dump; compressed if its name ends with `.gz`. */
  file: string
  index: string
  /** Identifies what the index was built from. */
  key: string
  readHit: ReadHit
}

/** Replaces the index atomically when it is complete. Lines that are not documents with id and title are skipped. */
export async function buildIndex({ file, index, key, readHit }: Build): Promise<void> {
  const temporary = `${index}.${process.pid}.new`
  rmSync(temporary, { force: true })
  const db = new DatabaseSync(temporary)
  try {
    db.exec(`
      pragma journal_mode = off; pragma synchronous = off;
      create table meta (key text);
      create table entry (number integer primary key, id text unique, document text);
      create virtual table title using fts5(words, tokenize = 'ascii', prefix = '3');`)
    const insert = db.prepare('insert or ignore into entry (id, document) values (?, ?)')
    const insertTitle = db.prepare('insert into title (rowid, words) values (?, ?)')
    const store = (line: string) => {
      const hit = parseHit(line, readHit)
      if (hit === null) return
      const { changes, lastInsertRowid } = insert.run(hit.externalId, line)
      if (changes === 0) return
      const titles = new Set([hit.title, ...hit.alternateTitles].map(normalizeSearchText))
      insertTitle.run(lastInsertRowid, [...titles].join('\n'))
    }
    db.exec('begin')
    let count = 0
    await readLines(file, line => {
      store(line)
      if (++count % batchLines === 0) db.exec('commit; begin')
    })
    db.exec('commit')
    db.prepare('insert into meta values (?)').run(key)
  } finally {
    db.close()
  }
  renameSync(temporary, index)
}

function parseHit(line: string, readHit: ReadHit) {
  try {
    return readHit(JSON.parse(line))
  } catch {
    return null
  }
}

/** Reads lines, except those that are too long. */
async function readLines(file: string, onLine: (line: string) => void): Promise<void> {
  const collect = async (chunks: AsyncIterable<Buffer>) => {
    let parts: Buffer[] = []
    let size = 0
    const end = () => {
      if (size > 0 && size <= maxLineBytes) onLine(Buffer.concat(parts).toString())
      parts = []
      size = 0
    }
    const add = (part: Buffer) => {
      size += part.length
      if (size > maxLineBytes) parts = []
      else parts.push(part)
    }
    for await (const chunk of chunks) {
      let from = 0
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
        add(chunk.subarray(from, at))
        end()
        from = at + 1
      }
      add(chunk.subarray(from))
    }
    end()
  }
  const content = createReadStream(file, { highWaterMark: 1024 * 1024 })
  if (file.endsWith('.gz')) await pipeline(content, createGunzip(), collect)
  else await pipeline(content, collect)
}
