// Metadata of a series from sources: search, field-by-field comparison, applied fields.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../../api/client.ts'
import { useGet } from '../../api/resource.ts'
import { can } from '../../api/session.ts'
import { t, textOr } from '../../text/translate.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { BareSelect } from '../../ui/field.tsx'
import { EmptyState, ErrorState } from '../../ui/state.tsx'
import { Table } from '../../ui/table.tsx'
import { showNotice } from '../../ui/toast.tsx'
import { fieldLabel } from './field-control.tsx'

type MatchDialogProps = {
  seriesId: string
  title: string
  onSaved?: () => void
  onClose: () => void
}
type Hit = Schemas['MetadataSearchResults']['results'][number]
type Comparison = Schemas['SeriesComparison']
type FieldName = Comparison['fields'][number]['field']

export function MatchDialog({ seriesId, title, onSaved, onClose }: MatchDialogProps) {
  const sources = useGet('/api/v1/metadata/sources')
  const [sourceId, setSourceId] = useState<string | null>(null)
  const [query, setQuery] = useState(title)
  const [hits, setHits] = useState<Hit[] | null>(null)
  const [comparison, setComparison] = useState<Comparison | null>(null)
  const [chosen, setChosen] = useState<ReadonlySet<FieldName>>(new Set())
  const source = sourceId ?? sources.data?.sources[0]?.id ?? null
  const path = { id: seriesId }
  const search = async () => {
    const request = { params: { path }, body: { sourceId: source!, query: query.trim() || null } }
    const { results } = await body(api.POST('/api/v1/series/{id}/metadata/search', request))
    setHits(results)
    setComparison(null)
  }
  const compare = async ({ externalId }: Hit) => {
    const request = { params: { path }, body: { sourceId: source!, externalId } }
    const next = await body(api.POST('/api/v1/series/{id}/metadata/preview', request))
    setComparison(next)
    setChosen(
      new Set(next.fields.filter(({ action }) => action === 'change').map(({ field }) => field)),
    )
  }
  const apply = async () => {
    const request = {
      params: { path },
      body: { sourceId: source!, externalId: comparison!.externalId, fields: [...chosen] },
    }
    const { appliedFields } = await body(api.POST('/api/v1/series/{id}/metadata/apply', request))
    showNotice(t('match.applied', { count: appliedFields.length }))
    onSaved?.()
    onClose()
  }
  const actions = comparison && [
    <Button key="back" variant="quiet" onClick={() => setComparison(null)}>
      {t('match.back')}
    </Button>,
    <Button key="apply" variant="primary" disabled={chosen.size === 0} onClick={apply}>
      {t('match.apply', { count: chosen.size })}
    </Button>,
  ]
  return (
    <Dialog
      title={t('action.findMetadata')}
      onClose={onClose}
      isUnsaved={comparison !== null && chosen.size > 0}
      actions={actions}
      width="wide"
    >
      {sources.error && !sources.data && (
        <ErrorState error={sources.error} onRetry={sources.reload} />
      )}
      {sources.data && sources.data.sources.length === 0 ? (
        <EmptyState
          icon="search"
          title={t('match.noSources')}
          text={t('match.noSourcesText')}
          action={
            can('PluginsManage') && <ButtonLink path="admin/sources" text={t('sources.add')} />
          }
        />
      ) : comparison ? (
        <ComparisonTable comparison={comparison} chosen={chosen} onChange={setChosen} />
      ) : (
        sources.data && (
          <SearchPart
            sources={sources.data.sources}
            source={source!}
            query={query}
            hits={hits}
            onSource={setSourceId}
            onQuery={setQuery}
            onSearch={search}
            onCompare={compare}
          />
        )
      )}
    </Dialog>
  )
}

type SearchPartProps = {
  sources: readonly { id: string; displayName: string }[]
  source: string
  query: string
  hits: Hit[] | null
  onSource: (id: string) => void
  onQuery: (query: string) => void
  onSearch: () => Promise<void>
  onCompare: (hit: Hit) => Promise<void>
}

function SearchPart(props: SearchPartProps) {
  const { sources, source, query, hits, onSource, onQuery, onSearch, onCompare } = props
  return (
    <div class="form">
      <form class="match-search" onSubmit={event => event.preventDefault()}>
        <BareSelect<string>
          class="control"
          aria-label={t('match.source')}
          value={source}
          options={sources.map(({ id, displayName }) => ({ value: id, text: displayName }))}
          onChange={onSource}
        />
        <input
          type="search"
          class="control"
          aria-label={t('field.title')}
          value={query}
          maxLength={500}
          onInput={event => onQuery(event.currentTarget.value)}
        />
        <Button type="submit" icon="search" variant="primary" onClick={onSearch}>
          {t('nav.search')}
        </Button>
      </form>
      {hits?.length === 0 && (
        <p class="secondary-text" role="status">
          {t('groupings.noneFound')}
        </p>
      )}
      <ul>
        {(hits ?? []).map(hit => (
          <li key={hit.externalId}>
            <HitRow hit={hit} onCompare={onCompare} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function HitRow({ hit, onCompare }: { hit: Hit; onCompare: (hit: Hit) => Promise<void> }) {
  const { title, year, alternateTitles, summary } = hit
  return (
    <Button variant="quiet" class="match-hit" onClick={() => onCompare(hit)}>
      <span class="match-hit-text" dir="auto">
        <strong>{year ? `${title} (${year})` : title}</strong>
        {alternateTitles.length > 0 && (
          <span class="secondary-text">{alternateTitles.slice(0, 3).join(' · ')}</span>
        )}
        {summary && <span class="clamp secondary-text">{summary}</span>}
      </span>
    </Button>
  )
}

type ComparisonTableProps = {
  comparison: Comparison
  chosen: ReadonlySet<FieldName>
  onChange: (chosen: ReadonlySet<FieldName>) => void
}

function ComparisonTable({ comparison, chosen, onChange }: ComparisonTableProps) {
  const toggle = (field: FieldName) => {
    const next = new Set(chosen)
    if (!next.delete(field)) next.add(field)
    onChange(next)
  }
  const shown = comparison.fields.filter(({ action }) => action !== 'same')
  return (
    <div class="table-scroll">
      {shown.length === 0 && <p>{t('match.allSame')}</p>}
      <Table
        class="match-table"
        columns={[t('rule.field'), t('match.current'), t('match.proposed')]}
      >
        {shown.map(({ field, current, proposed, action }) => (
          <tr key={field}>
            <th scope="row">
              <label class="match-field">
                <input
                  type="checkbox"
                  checked={chosen.has(field)}
                  disabled={action !== 'change'}
                  onChange={() => toggle(field)}
                />
                {fieldLabel(field)}
              </label>
              {action !== 'change' && (
                <span class="badge">{textOr(`match.action.${action}`, action)}</span>
              )}
            </th>
            <td dir="auto">{valueText(current)}</td>
            <td dir="auto">{valueText(proposed)}</td>
          </tr>
        ))}
      </Table>
    </div>
  )
}

/** Lists and records as text. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(valueText).join(', ')
  if (typeof value !== 'object') return String(value)
  const { name, title, role, url, sourceName, externalId } = value as Record<string, unknown>
  return (
    [name ?? title ?? sourceName, role ?? url ?? externalId].filter(Boolean).join(' – ') ||
    JSON.stringify(value)
  )
}
