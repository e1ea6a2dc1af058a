// Runtime settings of the server by section, each saved on its own, with its history.
import { useState } from 'preact/hooks'
import { AdminFrame } from '../admin/admin-frame.ts'
import { allItems } from '../api/all-items.ts'
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { useUnsaved } from '../routing/unsaved.ts'
import { t, textOr } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.ts'
import { ErrorState } from '../ui/error-state.ts'
import { Switch, TextArea, TextField } from '../ui/field.ts'
import { Form } from '../ui/form.ts'
import { h } from '../ui/h.ts'
import { showNotice } from '../ui/toast.ts'
import { SettingHistory } from './setting-history.ts'
import { hintOf, labelOf } from './setting-text.ts'

type Setting = Schemas['Setting']

export function View() {
  const [history, setHistory] = useState<string | null>(null)
  const { data, error, reload, replace } = useResource('settings', signal =>
    allItems(query => api.GET('/api/v1/admin/settings', { params: { query }, signal })),
  )
  const sections = Map.groupBy(data ?? [], setting => setting.category)
  const update = (changed: Setting) =>
    replace((data ?? []).map(setting => (setting.key === changed.key ? changed : setting)))
  return h(
    AdminFrame,
    { title: t('admin.settings'), subtitle: t('settings.hint') },
    error && !data && h(ErrorState, { error, onRetry: reload }),
    h(
      'div',
      { class: 'settings' },
      [...sections].map(([category, settings]) =>
        h(
          'section',
          { class: 'card', key: category },
          h('h2', null, textOr(`settings.section.${category}`, category)),
          settings.map(setting =>
            h(SettingForm, {
              setting,
              key: `${setting.key}:${setting.version}`,
              onChange: update,
              onHistory: () => setHistory(setting.key),
            }),
          ),
        ),
      ),
    ),
    history && h(SettingHistory, { settingKey: history, onClose: () => setHistory(null) }),
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
  return h(
    'div',
    { class: 'setting' },
    h(
      Form,
      { onSubmit: () => save(value) },
      h(SettingControl, {
        setting,
        value,
        onInput: next => {
          setValue(next)
          if (isBoolean) save(next).catch(() => setValue(setting.value))
        },
      }),
      value !== setting.value &&
        !isBoolean &&
        h(Button, { type: 'submit', variant: 'primary' }, t('action.save')),
    ),
    h(
      'div',
      { class: 'setting-actions' },
      setting.value !== defaultValue &&
        h(IconButton, {
          icon: 'refresh',
          variant: 'quiet',
          label: t('settings.reset', { value: defaultValue || t('settings.empty') }),
          onClick: reset,
        }),
      h(IconButton, {
        icon: 'list',
        variant: 'quiet',
        label: t('settings.history', { name: labelOf(key) }),
        onClick: onHistory,
      }),
    ),
  )
}

type SettingControlProps = { setting: Setting; value: string; onInput: (value: string) => void }

function SettingControl({ setting, value, onInput }: SettingControlProps) {
  const { key, valueType, minValue, maxValue } = setting
  const common = { label: labelOf(key), hint: hintOf(setting) }
  if (valueType === 'Boolean')
    return h(Switch, {
      ...common,
      checked: value === 'true',
      onChange: checked => onInput(String(checked)),
    })
  if (valueType === 'Integer' || valueType === 'Float')
    return h(TextField, {
      ...common,
      type: 'number',
      min: minValue ?? undefined,
      max: maxValue ?? undefined,
      step: valueType === 'Float' ? 'any' : 1,
      required: true,
      value,
      onInput,
    })
  if ((maxValue ?? 0) > 1000)
    return h(TextArea, { ...common, maxLength: maxValue ?? undefined, value, onInput })
  return h(TextField, {
    ...common,
    type: setting.isSensitive ? 'password' : 'text',
    maxLength: maxValue ?? undefined,
    value,
    onInput,
  })
}
