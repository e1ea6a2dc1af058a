// States of releases: names, alternative spellings in requests, and the states that actions lead to.

export const releaseStates = ['announced', 'dismissed', 'marked_acquired', 'hidden'] as const
export type ReleaseState = (typeof releaseStates)[number]

const aliases: Readonly<Record<string, ReleaseState>> = { new: 'announced', ignored: 'hidden' }
/** Names that requests may use for a state. */
export const stateNames = [...releaseStates, ...Object.keys(aliases)]

/** The state for one of `stateNames`. */
export const stateNamed = (name: string): ReleaseState => aliases[name] ?? (name as ReleaseState)

/** The state to which a bulk action sets releases; `delete` removes them. */
export const actionStates = {
  dismiss: 'dismissed',
  'mark-acquired': 'marked_acquired',
  ignore: 'hidden',
  reset: 'announced',
} as const satisfies Record<string, ReleaseState>
export const releaseActions = [
  ...(Object.keys(actionStates) as (keyof typeof actionStates)[]),
  'delete',
] as const

/**
 * Why a release has a state: it was announced and is wanted; a present book covers it; it has only chapters (or
 * only volumes), which are not tracked; a user requested it; a scan found a book that covers it.
 */
export const changeReasons = ['announced', 'owned', 'not_tracked', 'request', 'scan'] as const
