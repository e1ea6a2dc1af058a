// Komga's full-text queries: words that must all occur, `field:value`, quotes, ranges, `~`, `OR`, `NOT` and `-`. Plain
// words are passed to the catalog search, which ranks its results; the rest becomes a condition.

import { Invalid } from '../../../base/errors.ts'
import { maxConditionNodes } from '../../../list/fields.ts'
import { allOfParts, anyOfParts, complement, nothing, type Part } from './condition-tree.ts'
import { anywhere, anywhereSimilar, type Fields, type Range } from './full-text-fields.ts'
import type { KeyContext } from './keys.ts'

export type FullTextQuery = {
  /** Words contained in all results. */
  text: string
  condition: Part
  /** Whether the query names missing rows. */
  includeDeleted: boolean
}

// A sign, a field, and a phrase, a range of the field or a word; how far the words of a phrase may be apart, and how much
// a term weighs, are read over.
const term =
  /([-+!]|\bNOT\s+)?(?:([a-z_]{3,20}):(?=\S))?(?:"([^"]*)"?(?:[~^][\d.]*)*|((?<=:)[[{]\s*[^\s\]}]+\s+TO\s+[^\s\]}]+\s*[\]}])(?:\^[\d.]*)?|(\S+))/gy
const bounds = /^([[{])\s*"?([^\s"]+)"?\s+TO\s+"?([^\s"]+)"?\s*([\]}])$/

type Term = { word: string | null; condition: Part; includeDeleted?: boolean }

/** Cost linear in the length of the query. Throws Invalid for one with very many terms. */
export function parseFullText(query: string, fields: Fields, context: KeyContext): FullTextQuery {
  // Groups are read as their words; wildcards at the end of a word are what its beginning matches anyway.
  const text = query.replace(/[()]/g, ' ').trim()
  const groups: Term[][] = []
  let isAlternative = false
  for (const raw of termsOf(text)) {
    const { isPhrase, value } = raw
    if (!isPhrase && (value === 'OR' || value === '||')) {
      isAlternative = groups.length > 0
      continue
    }
    if (!isPhrase && (value === 'AND' || value === '&&')) continue
    const made = toTerm(raw, fields, context)
    const one = raw.isNegated && made.condition ? negated(made) : made
    if (isAlternative) groups.at(-1)!.push(one)
    else groups.push([one])
    isAlternative = false
    if (groups.length > maxConditionNodes) throw new Invalid('The query has too many words')
  }
  const isPlain = (group: Term[]) => group.length === 1 && group[0]!.word !== null
  return {
    text: groups
      .filter(isPlain)
      .map(([one]) => one!.word)
      .join(' '),
    includeDeleted: groups.flat().some(one => one.includeDeleted),
    condition: allOfParts(
      groups
        .filter(group => !isPlain(group))
        .map(group => anyOfParts(group.map(({ condition }) => condition))),
    ),
  }
}

type RawTerm = {
  isNegated: boolean
  field: string | undefined
  isPhrase: boolean
  range: Range | null
  value: string
}

function* termsOf(text: string): Generator<RawTerm> {
  for (let at = 0; at < text.length; ) {
    if (/\s/.test(text[at]!)) {
      at++
      continue
    }
    term.lastIndex = at
    const match = term.exec(text)
    if (!match) return
    at = term.lastIndex
    const [, sign = '', field, phrase, range, word = ''] = match
    yield {
      ...{ isNegated: sign !== '' && sign !== '+', field, isPhrase: phrase !== undefined },
      range: range === undefined ? null : rangeOf(range),
      value: phrase ?? range ?? word,
    }
  }
}

/** `[a TO b]` with its bounds, `{a TO b}` without; `*` is no bound. */
function rangeOf(text: string): Range | null {
  const match = bounds.exec(text)
  if (!match) return null
  const [, start, first, last, end] = match
  const [from, to] = [first, last].map(bound => (bound === '*' ? null : bound!)) as [
    string | null,
    string | null,
  ]
  return { from, to, hasFrom: start === '[', hasTo: end === ']' }
}

const weight = /\^[\d.]*$/
// Wildcards, and how similar a word must be.
const ending = /[*?~]+$|~[\d.]*$/
const similarity = /~(?!0*(?:\.0*)?$)[\d.]*$|~$/

function toTerm(
  { field, value: raw, isPhrase, range }: RawTerm,
  fields: Fields,
  context: KeyContext,
): Term {
  const value = isPhrase ? raw : raw.replace(weight, '')
  const plain = value.replace(ending, '')
  const isSimilar = !isPhrase && similarity.test(value)
  const known = field !== undefined && Object.hasOwn(fields, field) ? fields[field]! : null
  if (known && range) return { word: null, condition: known.within?.(range) ?? nothing }
  if (known && plain !== '') {
    const similar = isSimilar ? known.similar : undefined
    return {
      ...{ word: null, condition: similar ? similar(plain) : known.is(plain, context) },
      includeDeleted: field === 'deleted' && plain.toLowerCase() === 'true',
    }
  }
  const whole = field === undefined ? plain : `${field}:${plain}`
  if (isSimilar && plain !== '') return { word: null, condition: anywhereSimilar(whole) }
  const { condition, isText } = anywhere(whole, fields)
  // A colon within a word does not divide it.
  return { word: isText ? (isPhrase ? plain : whole) : null, condition }
}

/** The words and phrases of a query that must all occur in names: `"Favs"`, `name:Favs`, `Fav*`. */
export function wordsOfNames(query: string): string[] {
  const words: string[] = []
  for (const { isNegated, field, isPhrase, value } of termsOf(query.replace(/[()]/g, ' '))) {
    if (!isPhrase && /^(?:AND|OR|&&|\|\|)$/.test(value)) continue
    const plain = isPhrase ? value : value.replace(weight, '').replace(ending, '')
    const text = field === undefined || field === 'name' ? plain : `${field}:${plain}`
    if (text !== '' && !isNegated) words.push(text)
  }
  return words
}

function negated({ condition }: Term): Term {
  return { word: null, condition: condition && complement(condition) }
}
