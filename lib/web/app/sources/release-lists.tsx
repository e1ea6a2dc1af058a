// The lists of releases of a source: when they were read, what came of it; read now, schedule, off, from the beginning.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { cronText } from '../manage/cron.ts'
import { formatRelative, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Form, FormError } from '../ui/form.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu, MenuButton } from '../ui/menu.tsx'
import { showNotice } from '../ui/toast.tsx'

export type ReleaseList = Schemas['ReleaseSource']
type ListProps = { list: ReleaseList; onChange: () => void }

export const ReleaseLists = ({
  lists,
  onChange,
}: {
  lists: ReleaseList[]
  onChange: () => void
}) =>
  lists.length === 0 ? null : (
    <ul class="release-lists">
      {lists.map(list => (
        <ReleaseListRow key={list.id} list={list} onChange={onChange} />
      ))}
    </ul>
  )

function ReleaseListRow({ list, onChange }: ListProps) {
  const { id, displayName, enabled, lastError } = list
  const [dialog, setDialog] = useState<'schedule' | 'reset' | null>(null)
  const params = { path: { id } }
  const poll = async () => {
    const { status } = await body(api.POST('/api/v1/release-sources/{id}/poll-now', { params }))
    showNotice(t(status === 'enqueued' ? 'maintenance.started' : 'releaseLists.running'))
  }
  const change = async (changes: { enabled?: boolean; cronSchedule?: string | null }) => {
    await api.PATCH('/api/v1/release-sources/{id}', { params, body: changes })
    onChange()
  }
  const close = () => setDialog(null)
  return (
    <li class="row">
      <div>
        <strong>{displayName}</strong>
        <p class="secondary-text">{stateText(list)}</p>
        <FormError text={enabled && lastError} />
      </div>
      {enabled && <Button class="small" text={t('releaseLists.poll')} onClick={poll} />}
      <Menu label={t('action.more')} trigger={<Icon name="more" />}>
        <MenuButton
          icon={enabled ? 'pause' : 'play'}
          text={t(enabled ? 'sources.turnOff' : 'sources.turnOn')}
          onClick={() => change({ enabled: !enabled })}
        />
        <MenuButton
          icon="settings"
          text={t('schedule.label')}
          onClick={() => setDialog('schedule')}
        />
        <MenuButton
          icon="refresh"
          text={t('releaseLists.reset')}
          onClick={() => setDialog('reset')}
          isDanger
        />
      </Menu>
      {dialog === 'schedule' && <ScheduleDialog list={list} onSave={change} onClose={close} />}
      {dialog === 'reset' && (
        <ConfirmDialog
          title={t('releaseLists.reset')}
          text={t('releaseLists.resetText')}
          action={t('releaseLists.reset')}
          onClose={close}
          onConfirm={async () => {
            await api.POST('/api/v1/release-sources/{id}/reset', { params })
            onChange()
          }}
        />
      )}
    </li>
  )
}

function stateText({ enabled, lastPolledAt, lastSummary, effectiveCronSchedule }: ReleaseList) {
  if (!enabled) return t('sources.health.disabled')
  const last =
    lastPolledAt === null
      ? t('releaseLists.never')
      : t('releaseLists.last', { time: formatRelative(lastPolledAt) })
  return [last, lastSummary, cronText(effectiveCronSchedule)].filter(Boolean).join(' · ')
}

type ScheduleProps = {
  list: ReleaseList
  onSave: (changes: { cronSchedule: string | null }) => Promise<void>
  onClose: () => void
}

function ScheduleDialog({ list, onSave, onClose }: ScheduleProps) {
  const [cron, setCron] = useState(list.cronSchedule ?? '')
  const save = async () => {
    await onSave({ cronSchedule: cron.trim() || null })
    onClose()
  }
  return (
    <Dialog title={list.displayName} onClose={onClose}>
      <Form onSubmit={save} submit={t('action.save')}>
        <TextField
          label={t('schedule.label')}
          hint={t('releaseLists.scheduleHint', { schedule: list.effectiveCronSchedule })}
          value={cron}
          placeholder="0 */6 * * *"
          onInput={setCron}
        />
      </Form>
    </Dialog>
  )
}
