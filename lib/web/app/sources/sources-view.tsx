// Sources of metadata: whether they work, tests, credentials, and new ones from presets.
import { useState } from 'preact/hooks'
import { AdminFrame } from '../admin/admin-frame.tsx'
import { api, type Schemas } from '../api/client.ts'
import { useGet } from '../api/resource.ts'
import { formatRelative, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { FormError } from '../ui/form.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu, MenuButton } from '../ui/menu.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { showNotice } from '../ui/toast.tsx'
import { AddSourceDialog, type Preset, SourceKeysDialog, testSource } from './add-source.tsx'

type Source = Schemas['Source']

export function View() {
  const [isAdding, setAdding] = useState(false)
  const sources = useGet('/api/v1/admin/sources')
  const types = useGet('/api/v1/admin/source-types')
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
            onChange={sources.reload}
          />
        ))}
      </ul>
      <p class="secondary-text">{t('sources.own')}</p>
      {isAdding && (
        <AddSourceDialog
          presets={presets}
          taken={sources.data?.sources.map(({ name }) => name) ?? []}
          onAdded={sources.reload}
          onClose={() => setAdding(false)}
        />
      )}
    </AdminFrame>
  )
}

type CardProps = { source: Source; preset: Preset | undefined; onChange: () => void }

function SourceCard({ source, preset, onChange }: CardProps) {
  const { id, displayName, health, enabled, lastError, retryAt } = source
  const [dialog, setDialog] = useState<'keys' | 'delete' | null>(null)
  const params = { path: { id } }
  const [failure, setFailure] = useState<string | null>(null)
  const test = async () => {
    const { success, message, latencyMs } = await testSource(id)
    setFailure(success ? null : message)
    if (success) showNotice(t('sources.works', { name: displayName, ms: latencyMs }))
    onChange()
  }
  const toggle = async () => {
    if (enabled) await api.POST('/api/v1/admin/sources/{id}/disable', { params })
    else await api.POST('/api/v1/admin/sources/{id}/enable', { params })
    onChange()
  }
  const isBad = health === 'degraded' || health === 'unhealthy'
  return (
    <li class="row card source-card">
      <div>
        <h2>{displayName}</h2>
        {preset && <p class="secondary-text">{preset.attribution}</p>}
        <FormError text={failure ?? (isBad && lastError)} />
        {isBad && retryAt && (
          <p class="secondary-text">{t('sources.retryAt', { time: formatRelative(retryAt) })}</p>
        )}
      </div>
      <span class={isBad ? 'badge danger' : enabled ? 'badge accent' : 'badge'}>
        {t(`sources.health.${health}`)}
      </span>
      <Button icon="pulse" text={t('sources.test')} onClick={test} />
      <Menu label={t('action.more')} trigger={<Icon name="more" />}>
        <MenuButton
          icon={enabled ? 'pause' : 'play'}
          text={t(enabled ? 'sources.turnOff' : 'sources.turnOn')}
          onClick={toggle}
        />
        {preset && preset.credentials.length > 0 && (
          <MenuButton icon="key" text={t('sources.changeKeys')} onClick={() => setDialog('keys')} />
        )}
        <MenuButton
          icon="delete"
          text={t('action.delete')}
          onClick={() => setDialog('delete')}
          isDanger
        />
      </Menu>
      {dialog === 'keys' && preset && (
        <SourceKeysDialog
          sourceId={id}
          preset={preset}
          onChanged={onChange}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === 'delete' && (
        <ConfirmDialog
          title={t('sources.delete', { name: displayName })}
          text={t('sources.deleteText')}
          action={t('action.delete')}
          onClose={() => setDialog(null)}
          onConfirm={async () => {
            await api.DELETE('/api/v1/admin/sources/{id}', { params })
            onChange()
          }}
        />
      )}
    </li>
  )
}
