// Removing a genre while somebody puts it on a series.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { settleLabels } from '../../../lib/catalog/label/label.ts'
import { removeLabel } from '../../../lib/catalog/label/label-assignment.ts'
import { writeSeriesSearch } from '../../../lib/catalog/search/search-rows.ts'
import { catalogue, checkedBy, comic, shelve } from '../../kit/library.ts'

const all = await catalogue(t)
const { sql } = all
const info = (genre: string) => `<ComicInfo><Genre>${genre}</Genre></ComicInfo>`

checkedBy(t, all)('a genre that comes to a series meanwhile is taken off there, too', async t => {
  const shelf = await shelve(t, all, {
    'One/1.cbz': comic({ info: info('Noir') }),
    'Two/1.cbz': comic({ info: info('Tea') }),
  })
  await shelf.scan()
  const [two] = await sql<{ id: string }[]>`select id from series where name = 'Two'`
  const [noir] = await sql<{ id: string }[]>`select id from label where key = 'noir'`
  let removed: Promise<void> | undefined
  await sql.begin(async tx => {
    await tx`update book set genres = '{Noir}' where series_id = ${two!.id}`
    await settleLabels(tx, [two!.id])
    await writeSeriesSearch(tx, [two!.id])
    removed = removeLabel(sql, 'genre', noir!.id)
    await sleep(300)
  })
  await removed
  t.same([...(await sql`select name from series where genres <> '{}'`)], [])
  t.same([...(await sql`select id from label where key = 'noir'`)], [])
})
