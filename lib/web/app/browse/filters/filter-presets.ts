// Saved filters of an account: chosen, saved under a name, deleted.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { t } from '../../text/translate.ts'
import { Button, IconButton } from '../../ui/button.ts'
import { TextField } from '../../ui/field.ts'
import { h } from '../../ui/h.ts'
import { type Condition, conditionOf, filtersOfCondition } from './filter-condition.ts'
import { countFilters, type Filters } from './filter-fields.ts'

type PresetsProps = {
  filters: Filters
  sort: string
  libraryId: string | null
  onOpen: (filters: Filters, sort: string | null) => void
}

export function FilterPresets({ filters, sort, libraryId, onOpen }: PresetsProps) {
  const [name, setName] = useState<string | null>(null)
  const query = { scope: 'list' as const, target: 'series' as const }
  const presets = useResource('filter-presets', signal =>
    body(api.GET('/api/v1/filter-presets', { params: { query }, signal })),
  )
  const shown = presets.data?.presets.filter(
    preset => preset.libraryId === null || preset.libraryId === libraryId,
  )
  const save = async () => {
    const condition = conditionOf(filters, null) as Record<string, never> | null
    await api.POST('/api/v1/filter-presets', {
      body: {
        name: name!.trim(),
        condition,
        query: filters.text || null,
        sort,
        libraryId,
        ...query,
      },
    })
    setName(null)
    presets.reload()
  }
  const remove = async ({ id }: Schemas['FilterPreset']) => {
    await api.DELETE('/api/v1/filter-presets/{id}', { params: { path: { id } } })
    presets.reload()
  }
  const open = (preset: Schemas['FilterPreset']) => {
    const stored = filtersOfCondition(preset.condition as Condition | null)
    onOpen({ ...stored, text: preset.query ?? '' }, preset.sort)
  }
  if (!shown || (shown.length === 0 && countFilters(filters) === 0)) return null
  return h(
    'fieldset',
    { class: 'browse-options browse-presets' },
    h('legend', null, t('filter.presets')),
    h(
      'div',
      { class: 'browse-option-list' },
      shown.map(preset =>
        h(
          'span',
          { class: 'browse-preset', key: preset.id },
          h(
            'button',
            { type: 'button', class: 'browse-option', onClick: () => open(preset) },
            preset.name,
          ),
          h(IconButton, {
            icon: 'delete',
            variant: 'quiet',
            label: t('filter.deletePreset', { name: preset.name }),
            onClick: () => remove(preset),
          }),
        ),
      ),
      name === null &&
        countFilters(filters) > 0 &&
        h(
          Button,
          { icon: 'add', variant: 'quiet', onClick: () => setName('') },
          t('filter.savePreset'),
        ),
    ),
    name !== null &&
      h(
        'div',
        { class: 'browse-typed' },
        h(TextField, {
          label: t('filter.presetName'),
          value: name,
          maxLength: 100,
          onInput: setName,
        }),
        h(Button, { disabled: !name.trim(), onClick: save }, t('action.save')),
      ),
  )
}
