// How matching a series or book with a source ended.
import { component, nullable, type Static, Type } from '../base/schema.ts'
import type { FetchedBook, FetchedSeries } from '../sources/contract.ts'
import type { Comparison } from './apply.ts'

/** `cover`: whether the source's cover is now displayed; if it fails, the rest still succeeds. */
export type Applied = Comparison & { cover: 'none' | 'set' | 'locked' | 'failed' }

export const outcomes = [
  'matched',
  'unchanged',
  'no_match',
  'low_confidence',
  'library_conditions_not_met',
  'plugin_conditions_not_met',
  'plugin_not_found',
  'plugin_disabled',
  'failed',
  'undone',
] as const
export type Outcome = (typeof outcomes)[number]

/** What a source calls what was found. */
export const FoundHit = component('FoundHit', {
  title: Type.String(),
  year: nullable(Type.Integer()),
  url: nullable(Type.String()),
})
export type FoundHit = Static<typeof FoundHit>

export const foundOf = ({ title, year, url }: FoundHit): FoundHit => ({ title, year, url })

/** Null without a title. */
export function foundIn({ metadata, url }: FetchedSeries | FetchedBook): FoundHit | null {
  const { title, year } = metadata
  if (typeof title !== 'string') return null
  return { title, year: Number.isSafeInteger(year) ? (year as number) : null, url }
}

export type MatchResult = {
  outcome: Outcome
  message: string | null
  externalId: string | null
  /** Relevance of the best hit; null without a search. */
  relevance: number | null
  /** What was found on the source. */
  found: FoundHit | null
  /** Result of a match. */
  applied: Applied | null
}

export const resultOf = (outcome: Outcome, notes: Partial<MatchResult> = {}): MatchResult => ({
  ...{ message: null, externalId: null, relevance: null, found: null, applied: null },
  outcome,
  ...notes,
})
