// A read list and a collection whose members are added, removed and ordered; imports of CBL files.
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Writer, WriterContext } from './writer.ts'

const maxAdded = 6

type List = { name: 'readlists' | 'collections'; id: string; ids: string[]; known: string[] }

export function listWriter({ send, random, books }: WriterContext): Writer {
  const lists: List[] = (['readlists', 'collections'] as const).map(name => {
    return { name, id: '', ids: [], known: [] }
  })
  const imported: string[] = []
  const problems: string[] = []
  let count = 0

  /** A list that was created by an unacknowledged request is there under its name. */
  async function create(list: List) {
    const path = `/api/v1/${list.name}`
    const name = 'Under load'
    const body = { name, ordered: true }
    const { status, body: text } = await send(path, { method: 'POST', body, allowed: [409] })
    if (status === 201) list.id = (JSON.parse(text) as { id: string }).id
    else {
      const found = await send(`${path}?search=${encodeURIComponent(name)}`, {})
      list.id = (JSON.parse(found.body) as { data: { id: string }[] }).data[0]!.id
    }
  }

  async function changeList(list: List) {
    if (list.id === '') await create(list)
    const isBooks = list.name === 'readlists'
    const [members, idsKey] = isBooks ? ['books', 'bookIds'] : ['series', 'seriesIds']
    list.known = isBooks ? books().map(({ id }) => id) : await seriesIds()
    const path = `/api/v1/${list.name}/${list.id}/${members}`
    const what = random.pick(['add', 'add', 'remove', 'order'] as const)
    if (what === 'add') {
      const ids = list.known.length === 0 ? [] : random.some(list.known, maxAdded)
      const body = { [idsKey!]: ids }
      // A series is gone when all of its books moved to others.
      const allowed = isBooks ? [] : [404]
      const { status } = await send(path, { method: 'POST', body, allowed })
      if (status === 200) list.ids = [...new Set([...list.ids, ...ids])]
    } else if (what === 'remove' && list.ids.length > 0) {
      const id = random.pick(list.ids)
      await send(`${path}/${id}`, { method: 'DELETE' })
      list.ids = list.ids.filter(other => other !== id)
    } else if (what === 'order') {
      list.ids = random.shuffled(list.ids)
      await send(path, { method: 'PUT', body: { [idsKey!]: list.ids } })
    }
  }

  async function seriesIds(): Promise<string[]> {
    const { body } = await send('/api/v1/series?pageSize=50', {})
    return (JSON.parse(body) as { data: { id: string }[] }).data.map(({ id }) => id)
  }

  async function importList() {
    const name = `Import ${count}`
    const entries = random.some(books(), maxAdded).map(({ id }) => `<Book><Id>${id}</Id></Book>`)
    if (entries.length === 0) return
    const file = `<ReadingList><Name>x</Name><Books>${entries.join('')}</Books></ReadingList>`
    const body = new FormData()
    body.append('file', new Blob([file]), 'list.cbl')
    const path = `/api/v1/readlists/import?name=${encodeURIComponent(name)}`
    const { status, attempts } = await send(path, { method: 'POST', body, allowed: [409] })
    // It exists already if the first request was committed but not acknowledged.
    if (status !== 201 && attempts === 1) problems.push(`import: ${status}`)
    imported.push(`${name} ${entries.length}`)
  }

  return {
    async write() {
      if (books().length === 0) return
      count += 1
      await (count % 20 === 0 ? importList() : changeList(random.pick(lists)))
    },
    count: () => count,
    async compare(sql) {
      for (const list of lists) {
        const { stored, existing } = await membersOf(sql, list)
        const expected = list.ids.filter(id => existing.has(id))
        if (stored.join() !== expected.join())
          problems.push(`${list.name} has ${stored.length} members instead of ${expected.length}`)
      }
      const names = await sql<{ name: string }[]>`
        select l.name || ' ' || (
          select count(*) from read_list_book m where m.read_list_id = l.id) as name
        from read_list l where l.name like 'Import %' order by l.created_at`
      if (names.map(row => row.name).join() !== imported.join())
        problems.push(`${names.length} imported lists instead of ${imported.length}`)
      return problems
    },
  }
}

async function membersOf(sql: Sql, { name, id, ids }: List) {
  if (id === '') return { stored: [], existing: new Set<string>() }
  const isBooks = name === 'readlists'
  const rows = isBooks
    ? await sql<{ id: string }[]>`
        select book_id as id from read_list_book where read_list_id = ${id} order by position`
    : await sql<{ id: string }[]>`
        select series_id as id from collection_series where collection_id = ${id} order by position`
  const table = isBooks ? 'book' : 'series'
  const existing = await sql<{ id: string }[]>`
    select id from ${sql(table)} where id = any(${ids}::uuid[])`
  return { stored: rows.map(row => row.id), existing: new Set(existing.map(row => row.id)) }
}
