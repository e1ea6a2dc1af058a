// Sources of metadata and releases, and new ones.
import { useState } from 'preact/hooks'
import { AdminFrame } from '../admin/admin-frame.tsx'
import { useEvents } from '../api/events.ts'
import { useGet } from '../api/resource.ts'
import { t } from '../text/translate.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { useSoon } from '../ui/timing.ts'
import { AddSourceDialog } from './add-source.tsx'
import { SourceCard } from './source-card.tsx'

export function View() {
  const [isAdding, setAdding] = useState(false)
  const sources = useGet('/api/v1/admin/sources')
  const types = useGet('/api/v1/admin/source-types')
  const lists = useGet('/api/v1/release-sources')
  const reload = () => {
    sources.reload()
    lists.reload()
  }
  // A poll or a match has ended.
  const reloadSoon = useSoon(1_000, reload)
  useEvents('tasks', event => {
    if (event.type !== 'task_progress' || event.status !== 'running') reloadSoon()
  })
  const presets = types.data?.presets ?? []
  const add = (
    <Button icon="add" variant="primary" text={t('sources.add')} onClick={() => setAdding(true)} />
  )
  return (
    <AdminFrame title={t('admin.sources')} actions={types.data && add}>
      {sources.error && !sources.data && (
        <ErrorState error={sources.error} onRetry={sources.reload} />
      )}
      {sources.data?.sources.length === 0 && (
        <EmptyState icon="search" title={t('sources.none')} text={t('sources.noneText')} />
      )}
      <ul class="source-list">
        {sources.data?.sources.map(source => (
          <SourceCard
            key={source.id}
            source={source}
            preset={presets.find(({ name }) => name === source.config.preset)}
            lists={lists.data?.sources.filter(({ pluginId }) => pluginId === source.id) ?? []}
            onChange={reload}
          />
        ))}
      </ul>
      {sources.data && sources.data.sources.length > 0 && (
        <ButtonLink path="admin/matching" icon="search" text={t('matching.start')} />
      )}
      <p class="secondary-text source-note">{t('sources.own')}</p>
      {isAdding && (
        <AddSourceDialog
          presets={presets}
          taken={sources.data?.sources.map(({ name }) => name) ?? []}
          onAdded={reload}
          onClose={() => setAdding(false)}
        />
      )}
    </AdminFrame>
  )
}
