// Matching a library with a source: a preview, the start, and the results with their correction and undo.
import { useState } from 'preact/hooks'
import { AdminFrame } from '../admin/admin-frame.tsx'
import { FilterLinks, FilterSelect, LibraryFilter } from '../admin/filter-links.tsx'
import { api, body } from '../api/client.ts'
import { matchOutcomes } from '../api/enumerations.ts'
import { useEvents } from '../api/events.ts'
import { haveLoaded, useGet, useLibraries } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { address } from '../routing/router.ts'
import { t, textOr } from '../text/translate.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { currentPage, Pagination } from '../ui/pagination.tsx'
import { EmptyState, ErrorState, Loading } from '../ui/state.tsx'
import { useSoon } from '../ui/timing.ts'
import { showNotice } from '../ui/toast.tsx'
import { MatchPreview } from './match-preview.tsx'
import { MatchResults } from './match-results.tsx'
import type { Matching } from './matching.ts'

const kindTexts = { series: 'label.series', book: 'matching.ebooks' } as const

export function View() {
  const libraries = useLibraries()
  const sources = useGet('/api/v1/metadata/sources')
  const frame = { title: t('admin.matching'), subtitle: t('matching.text') }
  if (!haveLoaded(libraries, sources))
    return (
      <AdminFrame {...frame}>
        <Loading />
      </AdminFrame>
    )
  const error = libraries.error ?? sources.error
  if (!libraries.data || !sources.data)
    return (
      <AdminFrame {...frame}>
        {error && <ErrorState error={error} onRetry={sources.reload} />}
      </AdminFrame>
    )
  if (sources.data.sources.length === 0 || libraries.data.length === 0)
    return (
      <AdminFrame {...frame}>
        <EmptyState
          icon="search"
          title={t('match.noSources')}
          text={t('match.noSourcesText')}
          action={
            can('PluginsManage') && <ButtonLink path="admin/sources" text={t('sources.add')} />
          }
        />
      </AdminFrame>
    )
  const { query } = address.value
  const library = libraries.data.find(({ id }) => id === query.get('library')) ?? libraries.data[0]!
  const source =
    sources.data.sources.find(({ id }) => id === query.get('source')) ?? sources.data.sources[0]!
  const kind = source.kinds.find(name => name === query.get('kind')) ?? source.kinds[0]!
  const matching = { libraryId: library.id, sourceId: source.id, kind }
  return (
    <AdminFrame {...frame}>
      <div class="row matching-choice">
        <LibraryFilter
          libraries={libraries.data}
          selected={library.id}
          isRequired
          removes={['outcome']}
        />
        <FilterSelect
          label={t('match.source')}
          isRequired
          name="source"
          selected={source.id}
          removes={['outcome', 'kind']}
          options={sources.data.sources.map(({ id, displayName }) => ({
            value: id,
            text: displayName,
          }))}
        />
        {source.kinds.length > 1 && (
          <FilterSelect
            label={t('matching.what')}
            isRequired
            name="kind"
            selected={kind}
            removes={['outcome']}
            options={source.kinds.map(value => ({ value, text: t(kindTexts[value]) }))}
          />
        )}
      </div>
      <Library key={JSON.stringify(matching)} {...matching} />
    </AdminFrame>
  )
}

function Library(matching: Matching) {
  const { libraryId, sourceId, kind } = matching
  const [isTrying, setTrying] = useState(false)
  const outcome = matchOutcomes.find(name => name === address.value.query.get('outcome'))
  const results = useGet('/api/v1/libraries/{id}/metadata/matches', {
    path: { id: libraryId },
    query: { sourceId, kind, page: currentPage(), ...(outcome && { outcome }) },
  })
  const reloadSoon = useSoon(500, results.reload)
  useEvents('tasks', event => {
    if (event.type !== 'task_progress' || event.taskType === 'plugin_auto_match') reloadSoon()
  })
  const start = async () => {
    const request = { params: { path: { id: libraryId } }, body: { sourceId } }
    const { tasksEnqueued } = await body(
      api.POST('/api/v1/libraries/{id}/metadata/auto-match/task', request),
    )
    showNotice(t(tasksEnqueued > 0 ? 'maintenance.started' : 'maintenance.nothing'))
    results.reload()
  }
  const counts = results.data?.counts ?? []
  return (
    <div class="matching-library">
      <div class="row">
        <Button icon="search" text={t('matching.try')} onClick={() => setTrying(true)} />
        <Button icon="play" variant="primary" text={t('matching.start')} onClick={start} />
      </div>
      {isTrying && <MatchPreview {...matching} />}
      {results.error && !results.data && (
        <ErrorState error={results.error} onRetry={results.reload} />
      )}
      {counts.length > 0 && (
        <FilterLinks
          label={t('matching.results')}
          name="outcome"
          selected={outcome}
          all={{ count: counts.reduce((sum, { count }) => sum + count, 0) }}
          options={counts.flatMap(({ outcome: value, count }) =>
            value === null ? [] : [{ value, count, text: textOr(`match.outcome.${value}`, value) }],
          )}
        />
      )}
      {results.data && (
        <>
          <MatchResults {...matching} matches={results.data.data} onChange={results.reload} />
          <Pagination totalPages={results.data.totalPages} />
        </>
      )}
    </div>
  )
}
