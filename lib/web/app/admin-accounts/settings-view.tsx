// Runtime settings of the server by section, each saved on its own, with its history.
import { useState } from 'preact/hooks'
import { AdminFrame } from '../admin/admin-frame.tsx'
import { allItems } from '../api/all-items.ts'
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { useUnsaved } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Switch, TextArea, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { showNotice } from '../ui/toast.tsx'
import { SettingHistory } from './setting-history.tsx'
import { hintOf, labelOf, sectionOf } from './setting-text.ts'

type Setting = Schemas['Setting']

export function View() {
  const [history, setHistory] = useState<string | null>(null)
  const { data, error, reload, replace } = useResource('settings', signal =>
    allItems(query => api.GET('/api/v1/admin/settings', { params: { query }, signal })),
  )
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
    onChange(
      await body(
        api.PUT('/api/v1/admin/settings/{key}', { params: { path }, body: { value: next } }),
      ),
    )
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
          <Button type="submit" variant="primary">
            {t('action.save')}
          </Button>
        )}
      </Form>
      <div class="setting-actions">
        {setting.value !== defaultValue && (
          <IconButton
            icon="refresh"
            variant="quiet"
            label={t('settings.reset', { value: defaultValue || t('settings.empty') })}
            onClick={reset}
          />
        )}
        <IconButton
          icon="list"
          variant="quiet"
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
