// A source: whether it works, a test, its lists of releases, matching, credentials, failures.
import { useState } from 'preact/hooks'
import { api, type Schemas } from '../api/client.ts'
import { formatRelative, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { FormError } from '../ui/form.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu, MenuButton } from '../ui/menu.tsx'
import { showNotice } from '../ui/toast.tsx'
import { type Preset, SourceKeysDialog } from './add-source.tsx'
import { FailuresDialog } from './failures-dialog.tsx'
import { MatchingDialog } from './matching-settings.tsx'
import { type ReleaseList, ReleaseLists } from './release-lists.tsx'
import { testSource } from './test-source.ts'

type Source = Schemas['Source']
type CardProps = {
  source: Source
  preset: Preset | undefined
  lists: ReleaseList[]
  onChange: () => void
}

export function SourceCard({ source, preset, lists, onChange }: CardProps) {
  const { id, displayName, health, enabled, lastError, retryAt } = source
  const [dialog, setDialog] = useState<'keys' | 'matching' | 'failures' | 'delete' | null>(null)
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
  const resume = async () => {
    await api.POST('/api/v1/admin/sources/{id}/reset', { params })
    onChange()
  }
  const close = () => setDialog(null)
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
        {source.type !== 'feed' && (
          <MenuButton
            icon="settings"
            text={t('matchingSettings.menu')}
            onClick={() => setDialog('matching')}
          />
        )}
        <MenuButton
          icon="error"
          text={t('sources.showFailures')}
          onClick={() => setDialog('failures')}
        />
        {retryAt && <MenuButton icon="refresh" text={t('sources.resume')} onClick={resume} />}
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
      <ReleaseLists lists={lists} onChange={onChange} />
      {dialog === 'matching' && <MatchingDialog sourceId={id} name={displayName} onClose={close} />}
      {dialog === 'failures' && <FailuresDialog sourceId={id} name={displayName} onClose={close} />}
      {dialog === 'keys' && preset && (
        <SourceKeysDialog sourceId={id} preset={preset} onChanged={onChange} onClose={close} />
      )}
      {dialog === 'delete' && (
        <ConfirmDialog
          title={t('sources.delete', { name: displayName })}
          text={t('sources.deleteText')}
          action={t('action.delete')}
          onClose={close}
          onConfirm={async () => {
            await api.DELETE('/api/v1/admin/sources/{id}', { params })
            onChange()
          }}
        />
      )}
    </li>
  )
}
