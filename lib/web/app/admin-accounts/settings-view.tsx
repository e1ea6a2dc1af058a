// Runtime settings of the server by section, each saved on its own, with its history.
import { useState } from 'preact/hooks'
import { AdminFrame } from '../admin/admin-frame.tsx'
import { api, body, type Schemas } from '../api/client.ts'
import { useGet, useGetAll } from '../api/resource.ts'
import { useUnsaved } from '../routing/unsaved.ts'
import { formatDate, type TextKey, t, textOr } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Switch, TextArea, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { ErrorState } from '../ui/state.tsx'
import { Table } from '../ui/table.tsx'
import { showNotice } from '../ui/toast.tsx'

type Setting = Schemas['Setting']

export function View() {
  const [history, setHistory] = useState<string | null>(null)
  const { data, error, reload, replace } = useGetAll('/api/v1/admin/settings')
  const sections = Map.groupBy(data ?? [], setting => setting.category)
  const update = (changed: Setting) =>
    replace((data ?? []).map(setting => (setting.key === changed.key ? changed : setting)))
  return (
    <AdminFrame title={t('admin.settings')} subtitle={t('settings.hint')}>
      {error && !data && <ErrorState error={error} onRetry={reload} />}
      <div class="settings">
        {[...sections].map(([category, settings]) => (
          <section key={category} class="card">
            <h2>{sectionOf(category)}</h2>
            {settings.map(setting => (
              <SettingForm
                key={`${setting.key}:${setting.version}`}
                setting={setting}
                onChange={update}
                onHistory={() => setHistory(setting.key)}
              />
            ))}
          </section>
        ))}
      </div>
      {history && <SettingHistory settingKey={history} onClose={() => setHistory(null)} />}
    </AdminFrame>
  )
}

type SettingFormProps = {
  setting: Setting
  onChange: (setting: Setting) => void
  onHistory: () => void
}

function SettingForm({ setting, onChange, onHistory }: SettingFormProps) {
  const { key, defaultValue } = setting
  const [value, setValue] = useState(setting.value)
  useUnsaved(value !== setting.value)
  const path = { key }
  const save = async (next: string) => {
    const request = { params: { path }, body: { value: next } }
    onChange(await body(api.PUT('/api/v1/admin/settings/{key}', request)))
    showNotice(t('action.saved'))
  }
  const reset = async () =>
    onChange(await body(api.POST('/api/v1/admin/settings/{key}/reset', { params: { path } })))
  const isBoolean = setting.valueType === 'Boolean'
  return (
    <div class="setting">
      <Form onSubmit={() => save(value)}>
        <SettingControl
          setting={setting}
          value={value}
          onInput={next => {
            setValue(next)
            if (isBoolean) save(next).catch(() => setValue(setting.value))
          }}
        />
        {value !== setting.value && !isBoolean && (
          <Button type="submit" variant="primary" text={t('action.save')} />
        )}
      </Form>
      <div class="setting-actions">
        {setting.value !== defaultValue && (
          <IconButton
            icon="refresh"
            label={t('settings.reset', { value: defaultValue || t('settings.empty') })}
            onClick={reset}
          />
        )}
        <IconButton
          icon="list"
          label={t('settings.history', { name: labelOf(key) })}
          onClick={onHistory}
        />
      </div>
    </div>
  )
}

type SettingControlProps = { setting: Setting; value: string; onInput: (value: string) => void }

function SettingControl({ setting, value, onInput }: SettingControlProps) {
  const { key, valueType, minValue, maxValue } = setting
  const common = { label: labelOf(key), hint: hintOf(setting) }
  if (valueType === 'Boolean')
    return (
      <Switch
        {...common}
        checked={value === 'true'}
        onChange={checked => onInput(String(checked))}
      />
    )
  if (valueType === 'Integer' || valueType === 'Float')
    return (
      <TextField
        {...common}
        type="number"
        min={minValue ?? undefined}
        max={maxValue ?? undefined}
        step={valueType === 'Float' ? 'any' : 1}
        required
        value={value}
        onInput={onInput}
      />
    )
  if ((maxValue ?? 0) > 1000)
    return (
      <TextArea {...common} maxLength={maxValue ?? undefined} value={value} onInput={onInput} />
    )
  return (
    <TextField
      {...common}
      type={setting.isSensitive ? 'password' : 'text'}
      maxLength={maxValue ?? undefined}
      value={value}
      onInput={onInput}
    />
  )
}

type SettingHistoryProps = { settingKey: string; onClose: () => void }

/** Values, times and accounts. */
function SettingHistory({ settingKey: key, onClose }: SettingHistoryProps) {
  const params = { path: { key }, query: { pageSize: 100 } }
  const { data, error, reload } = useGet('/api/v1/admin/settings/{key}/history', params)
  const columns = ['label.time', 'settings.old', 'settings.new', 'settings.account'] as const
  return (
    <Dialog title={t('settings.historyOf', { name: labelOf(key) })} onClose={onClose} width="wide">
      {error && !data && <ErrorState error={error} onRetry={reload} />}
      {data?.data.length === 0 && <p>{t('settings.unchanged')}</p>}
      {data && data.data.length > 0 && (
        <div class="table-scroll">
          <Table columns={columns.map(name => t(name))}>
            {data.data.map(change => (
              <tr key={change.id}>
                <td>{formatDate(change.changedAt, 'dateTime')}</td>
                <td>{change.oldValue ?? ''}</td>
                <td>{change.newValue ?? ''}</td>
                <td>
                  {change.changedBy ?? ''}
                  {change.changeReason && ` (${change.changeReason})`}
                </td>
              </tr>
            ))}
          </Table>
        </div>
      )}
    </Dialog>
  )
}

// Names and explanations: translated where there is a text, otherwise the server's English.

const labelOf = (key: string): string => textOr(`setting.${key}`, key)

/** Sections that share the text of another key. */
const sectionTexts: Record<string, TextKey> = {
  Backups: 'admin.backups',
  'KOReader sync': 'apps.koreader',
  Maintenance: 'task.maintenance',
  Tasks: 'admin.tasks',
}

const sectionOf = (category: string): string =>
  textOr(sectionTexts[category] ?? `settings.section.${category}`, category)

const hintOf = ({ key, description }: Setting): string => textOr(`setting.${key}.hint`, description)
