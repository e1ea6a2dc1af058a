// Saved filters of an account: chosen, saved under a name, deleted.
import { useState } from 'preact/hooks'
import { api, type Schemas } from '../../api/client.ts'
import { useGet } from '../../api/use-get.ts'
import { t } from '../../text/translate.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
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
  const presets = useGet('/api/v1/filter-presets', { query })
  const shown = presets.data?.presets.filter(
    preset => preset.libraryId === null || preset.libraryId === libraryId,
  )
  const save = async () => {
    const condition = conditionOf(filters, null) as Record<string, never> | null
    const preset = { name: name!.trim(), condition, query: filters.text || null, sort, libraryId }
    await api.POST('/api/v1/filter-presets', { body: { ...preset, ...query } })
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
  return (
    <fieldset class="browse-options browse-presets">
      <legend>{t('filter.presets')}</legend>
      <div class="browse-option-list">
        {shown.map(preset => (
          <span key={preset.id} class="browse-preset">
            <button type="button" class="browse-option" onClick={() => open(preset)}>
              {preset.name}
            </button>
            <IconButton
              icon="delete"
              label={t('filter.deletePreset', { name: preset.name })}
              onClick={() => remove(preset)}
            />
          </span>
        ))}
        {name === null && countFilters(filters) > 0 && (
          <Button icon="add" variant="quiet" onClick={() => setName('')}>
            {t('filter.savePreset')}
          </Button>
        )}
      </div>
      {name !== null && (
        <div class="browse-typed">
          <TextField
            label={t('filter.presetName')}
            value={name}
            maxLength={100}
            onInput={setName}
          />
          <Button text={t('action.save')} disabled={!name.trim()} onClick={save} />
        </div>
      )}
    </fieldset>
  )
}
