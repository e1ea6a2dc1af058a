// Search texts derived from the titles of the catalog.
import type { Sql } from '../../lib/store/postgres/db.ts'

/** Texts by what they are. */
export async function searchTexts(sql: Sql): Promise<Record<string, string>> {
  const rows = await sql<{ title: string }[]>`
    select title from series where book_count > 0 order by id limit 3000`
  const latin = rows.map(row => row.title).filter(title => title.split(' ').length === 3)
  const han = rows.map(row => row.title).filter(title => /^[\u3040-\u9fff]{4,}$/.test(title))
  const [tag] = await sql<{ name: string }[]>`
    select name from label where kind = 'tag' offset 9 limit 1`
  // Small catalogs have fewer titles.
  const at = (titles: string[], i: number) => titles[i % titles.length]!
  const word = (title: string, i: number) => title.split(' ')[i]!
  return {
    'a title': at(latin, 7),
    'two words': `${word(at(latin, 11), 0)} ${word(at(latin, 11), 2)}`,
    'a word': word(at(latin, 13), 2),
    'another word': word(at(latin, 40), 1),
    'beginning of a word': word(at(latin, 17), 2).slice(0, 4),
    'title and number': `${at(latin, 21)} 3`,
    'two letters': 'ea',
    'two Han': at(han, 3).slice(0, 2),
    'one Han': at(han, 5).slice(1, 2),
    'a tag': tag!.name,
    nothing: 'qzxv',
    'the most common word': 'the',
  }
}
