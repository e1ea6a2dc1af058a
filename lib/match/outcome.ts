// How matching a series or book with a source ended.
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

export type MatchResult = {
  outcome: Outcome
  message: string | null
  externalId: string | null
  /** Relevance of the best hit; null without a search. */
  relevance: number | null
  /** Result of a match. */
  applied: Applied | null
}

export const resultOf = (outcome: Outcome, notes: Partial<MatchResult> = {}): MatchResult => ({
  ...{ message: null, externalId: null, relevance: null, applied: null },
  outcome,
  ...notes,
})
