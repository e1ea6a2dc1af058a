// The results of matching: what was matched, what was not and why; another choice, and undo.
import type { Schemas } from '../api/client.ts'
import { findMetadata } from '../organize/actions.ts'
import { undo } from '../organize/metadata/match-requests.ts'
import { formatNumber, formatRelative, t, textOr } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { NameLink } from '../ui/name.tsx'
import { EmptyState } from '../ui/state.tsx'
import { showNotice } from '../ui/toast.tsx'
import { FoundLink } from './found-link.tsx'
import type { Matching } from './matching.ts'

type Match = Schemas['LibraryMatch']
type ResultsProps = Matching & { matches: readonly Match[]; onChange: () => void }

export function MatchResults({ kind, matches, onChange }: ResultsProps) {
  if (matches.length === 0)
    return <EmptyState icon="search" title={t('matching.none')} text={t('matching.noneText')} />
  const owner = kind === 'series' ? 'series' : 'books'
  return (
    <ul class="match-results" aria-label={t('matching.results')}>
      {matches.map(match => (
        <li key={match.id} class="row">
          <div>
            <NameLink path={`${owner}/${match.id}`} name={match.title} />
            <p class="secondary-text">
              {[resultText(match), match.matchedAt && formatRelative(match.matchedAt)]
                .filter(Boolean)
                .join(' · ')}
            </p>
            {match.found && (
              <p class="secondary-text">
                → <FoundLink found={match.found} />
              </p>
            )}
            {match.message && <p class="secondary-text">{match.message}</p>}
          </div>
          <Actions owner={owner} match={match} onChange={onChange} />
        </li>
      ))}
    </ul>
  )
}

function resultText({ outcome, relevance, isDue }: Match): string {
  if (isDue || outcome === null) return t('matching.due')
  const text = textOr(`match.outcome.${outcome}`, outcome)
  return relevance === null ? text : `${text} · ${formatNumber(relevance, { style: 'percent' })}`
}

type ActionsProps = { owner: 'series' | 'books'; match: Match; onChange: () => void }

function Actions({ owner, match, onChange }: ActionsProps) {
  const { id, title, sourceId, found, isUndoable } = match
  const choice = t(found ? 'matching.choose' : 'action.findMetadata')
  const restore = async () => {
    const { restoredFields } = await undo({ owner, id }, sourceId)
    showNotice(t('match.undone', { count: restoredFields.length }))
    onChange()
  }
  return (
    <div class="row">
      <Button
        class="small"
        text={choice}
        aria-label={`${choice}: ${title}`}
        onClick={() => findMetadata({ owner, id, title, sourceId, onSaved: onChange })}
      />
      {isUndoable && (
        <Button
          class="small"
          text={t('organize.undo')}
          aria-label={`${t('organize.undo')}: ${title}`}
          onClick={restore}
        />
      )}
    </div>
  )
}
