// Rows of the home page: their order, and which of them an account shows.

export const rowNames = [
  'reading',
  'onDeck',
  'newSeries',
  'newBooks',
  'updated',
  'recentlyRead',
] as const
export type RowName = (typeof rowNames)[number]

export type HomeRow = { name: RowName; isShown: boolean }

/** The preference that has them as JSON. */
export const rowsKey = 'web.home_rows'

/** All rows in the order that is stored; those that it does not know are shown at the end. */
export function rowsOf(stored: unknown): HomeRow[] {
  const known = (Array.isArray(stored) ? stored : []).filter(isRow)
  const rows = rowNames.map(name => known.find(row => row.name === name) ?? { name, isShown: true })
  const placeOf = ({ name }: HomeRow) => {
    const place = known.findIndex(row => row.name === name)
    return place < 0 ? known.length : place
  }
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b))
}

const isRow = (row: unknown): row is HomeRow =>
  typeof row === 'object' &&
  row !== null &&
  'name' in row &&
  'isShown' in row &&
  rowNames.some(name => name === row.name) &&
  typeof row.isShown === 'boolean'
