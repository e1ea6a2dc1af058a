// Age ratings of ComicInfo, MetronInfo and series.json as minimum age in years.

// M is `mature, 15 and over` in the Australian classification, which also defines G, PG, MA15+, R18+ and
// X18+.
const ageByRating: Record<string, number> = {
  everyone: 0,
  'early childhood': 0,
  g: 0,
  'kids to adults': 0,
  all: 0,
  'all ages': 0,
  'everyone 10+': 10,
  pg: 10,
  teen: 13,
  'teen plus': 15,
  'ma15+': 15,
  m: 15,
  mature: 17,
  'mature 17+': 17,
  'r18+': 18,
  'x18+': 18,
  'adults only 18+': 18,
  adult: 18,
  explicit: 18,
}

const unratedValues = ['unknown', 'rating pending', 'not rated', 'none', '']

/**
 * 0, 10, 13, 15, 17 or 18 (a numeric age is rounded up); undefined for `Unknown`; null for an unrecognized
 * rating.
 */
export function ageRating(text: string): number | null | undefined {
  const key = text.trim().toLowerCase().replace(/\s+/g, ' ')
  if (unratedValues.includes(key)) return undefined
  const age = /^(\d{1,2}) ?\+?$/.exec(key)?.[1]
  if (age !== undefined) return [0, 10, 13, 15, 17].find(step => step >= Number(age)) ?? 18
  return Object.hasOwn(ageByRating, key) ? (ageByRating[key] ?? null) : null
}
