// Age ratings of ComicInfo, MetronInfo and series.json as minimum age in years.
import { byWord } from '../../base/words.ts'

// M is `mature, 15 and over` in the Australian classification, which also defines G, PG, MA15+, R18+ and
// X18+.
const ages = byWord({
  0: 'everyone, early childhood, g, kids to adults, all, all ages',
  10: 'everyone 10+, pg',
  13: 'teen',
  15: 'teen plus, ma15+, m',
  17: 'mature, mature 17+',
  18: 'r18+, x18+, adults only 18+, adult, explicit',
})

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
  return ages.has(key) ? Number(ages.get(key)) : null
}
