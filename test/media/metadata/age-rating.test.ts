import t from 'tap'
import { ageRating } from '../../../lib/media/metadata/age-rating.ts'

t.test('ratings of all sources are converted to years', t => {
  const cases = {
    Everyone: 0,
    'Everyone 10+': 10,
    TEEN: 13,
    'Teen Plus': 15,
    'MA15+': 15,
    'Mature  17+': 17,
    'X18+': 18,
    'Adults Only 18+': 18,
    'All Ages': 0,
    '9+': 10,
    '16+': 17,
    99: 18,
  }
  for (const [text, years] of Object.entries(cases)) t.equal(ageRating(text), years, text)
  t.end()
})

t.test('unrated is undefined, unknown ratings are null', t => {
  t.equal(ageRating('Unknown'), undefined)
  t.equal(ageRating('Rating Pending'), undefined)
  t.equal(ageRating('Invalid Rating'), null)
  t.equal(ageRating('constructor'), null)
  t.end()
})
