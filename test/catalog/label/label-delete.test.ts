// Deletion of a genre while a series is assigned it.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { refreshLabels } from '../../../lib/catalog/derived/labels.ts'
import { refreshSeriesSearch } from '../../../lib/catalog/derived/search-rows.ts'
import { deleteLabel } from '../../../lib/catalog/label/label-delete.ts'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'

const all = await openCatalog(t)
const { sql } = all
const info = (genre: string) => `<ComicInfo><Genre>${genre}</Genre></ComicInfo>`

testWithDoctor(t, all)(
  'a genre assigned during its deletion is removed from that series, too',
  async t => {
    const shelf = await createTestLibrary(t, all, {
      'One/1.cbz': comic({ info: info('Noir') }),
      'Two/1.cbz': comic({ info: info('Tea') }),
    })
    await shelf.scan()
    const [two] = await sql<{ id: string }[]>`select id from series where name = 'Two'`
    const [noir] = await sql<{ id: string }[]>`select id from label where key = 'noir'`
    let removed: Promise<void> | undefined
    await sql.begin(async tx => {
      await tx`update book set genres = '{Noir}' where series_id = ${two!.id}`
      await refreshLabels(tx, [two!.id])
      await refreshSeriesSearch(tx, [two!.id])
      removed = deleteLabel(sql, 'genre', noir!.id)
      await sleep(300)
    })
    await removed
    t.same([...(await sql`select name from series where genres <> '{}'`)], [])
    t.same([...(await sql`select id from label where key = 'noir'`)], [])
  },
)
