// Metadata of a series or book from sources: search, field-by-field comparison, applied fields, undo.
import { useState } from 'preact/hooks'
import type { Schemas } from '../../api/client.ts'
import { useGet } from '../../api/resource.ts'
import { can } from '../../api/session.ts'
import { t, textOr } from '../../text/translate.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState, ErrorState, Loading } from '../../ui/state.tsx'
import { showNotice } from '../../ui/toast.tsx'
import { ComparisonTable } from './match-comparison.tsx'
import {
  apply,
  type Comparison,
  compare,
  type FieldName,
  type Hit,
  type MatchOwner,
  type MatchSubject,
  undo,
} from './match-requests.ts'
import { Hits, SearchForm } from './match-search.tsx'
import { useMatchSearch } from './use-match-search.ts'

type MatchDialogProps = {
  owner: MatchOwner
  id: string
  title: string
  /** The source that is searched first. */
  sourceId?: string
  onSaved?: () => void
  onClose: () => void
}

export function MatchDialog({ owner, id, title, onSaved, onClose, ...props }: MatchDialogProps) {
  const subject = { owner, id }
  const all = useGet('/api/v1/metadata/sources')
  const kind = owner === 'series' ? 'series' : 'book'
  const sources = all.data?.sources.filter(({ kinds }) => kinds.includes(kind))
  const [chosenSource, setSource] = useState(props.sourceId ?? null)
  const [comparison, setComparison] = useState<Comparison | null>(null)
  const [chosen, setChosen] = useState<ReadonlySet<FieldName>>(new Set())
  const sourceId = chosenSource ?? sources?.[0]?.id ?? ''
  const { terms, setTerms, hits, isSearching, find } = useMatchSearch(subject, sourceId, title)
  const compareWith = async ({ externalId }: Hit) => {
    const next = await compare(subject, { sourceId, externalId })
    setComparison(next)
    setChosen(
      new Set(next.fields.filter(({ action }) => action === 'change').map(({ field }) => field)),
    )
  }
  const applyChosen = async () => {
    const { externalId } = comparison!
    const match = { sourceId, externalId, fields: [...chosen] }
    const { appliedFields } = await apply(subject, match)
    showNotice(t('match.applied', { count: appliedFields.length }), {
      text: t('organize.undo'),
      run: () => undoMatch(subject, sourceId).then(onSaved),
    })
    onSaved?.()
    onClose()
  }
  const actions = comparison && [
    <Button key="back" variant="quiet" onClick={() => setComparison(null)}>
      {t('match.back')}
    </Button>,
    <Button key="apply" variant="primary" disabled={chosen.size === 0} onClick={applyChosen}>
      {t('match.apply', { count: chosen.size })}
    </Button>,
  ]
  return (
    <Dialog
      title={`${t('action.findMetadata')}: ${title}`}
      onClose={onClose}
      isUnsaved={comparison !== null && chosen.size > 0}
      actions={actions}
      width="wide"
    >
      {all.error && !all.data && <ErrorState error={all.error} onRetry={all.reload} />}
      {sources?.length === 0 && <NoSources owner={owner} />}
      {comparison && (
        <ComparisonTable comparison={comparison} chosen={chosen} onChange={setChosen} />
      )}
      {sources && sources.length > 0 && !comparison && (
        <div class="form">
          <Matches
            subject={subject}
            nameOf={({ sourceId, source }) =>
              sources.find(({ id }) => id === sourceId)?.displayName ?? source
            }
            {...(onSaved && { onUndone: onSaved })}
          />
          <SearchForm
            {...{ owner, sources, terms, source: sourceId }}
            onSource={setSource}
            onTerms={setTerms}
            onSearch={find}
          />
          {owner === 'books' && <p class="secondary-text">{t('match.ownTerms')}</p>}
          {isSearching && <Loading />}
          {hits && <Hits hits={hits} onCompare={compareWith} />}
        </div>
      )}
    </Dialog>
  )
}

const NoSources = ({ owner }: { owner: MatchOwner }) => (
  <EmptyState
    icon="search"
    title={t(owner === 'series' ? 'match.noSources' : 'match.noBookSources')}
    text={t('match.noSourcesText')}
    action={can('PluginsManage') && <ButtonLink path="admin/sources" text={t('sources.add')} />}
  />
)

async function undoMatch(subject: MatchSubject, sourceId: string) {
  const { restoredFields } = await undo(subject, sourceId)
  showNotice(t('match.undone', { count: restoredFields.length }))
}

type SourceMatch = Schemas['SourceMatch']
type MatchesProps = {
  subject: MatchSubject
  nameOf: (match: SourceMatch) => string
  onUndone?: () => void
}

/** What came of earlier matches, and their undo. */
function Matches({ subject, nameOf, onUndone }: MatchesProps) {
  const { owner, id } = subject
  const { data, reload } = useGet(`/api/v1/${owner}/{id}/metadata/matches`, { path: { id } })
  const shown = data?.matches.filter(({ outcome, isUndoable }) => outcome !== null || isUndoable)
  if (!shown || shown.length === 0) return null
  return (
    <ul class="match-earlier">
      {shown.map(match => (
        <MatchRow
          key={match.sourceId}
          match={match}
          source={nameOf(match)}
          onUndo={async () => {
            await undoMatch(subject, match.sourceId)
            reload()
            onUndone?.()
          }}
        />
      ))}
    </ul>
  )
}

type MatchRowProps = { match: SourceMatch; source: string; onUndo: () => Promise<void> }

function MatchRow({ match, source, onUndo }: MatchRowProps) {
  const { outcome, message, isUndoable } = match
  return (
    <li class="row">
      <span>
        {t('match.result', {
          source,
          outcome: outcome === null ? '–' : textOr(`match.outcome.${outcome}`, outcome),
        })}
        {message && <span class="secondary-text"> {message}</span>}
      </span>
      {isUndoable && (
        <Button icon="undo" variant="quiet" text={t('organize.undo')} onClick={onUndo} />
      )}
    </li>
  )
}
