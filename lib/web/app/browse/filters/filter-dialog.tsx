// Dialog with all filters of a series list and the saved ones; the list changes when it is confirmed.
import { useEffect, useState } from 'preact/hooks'
import { api, body, type Schemas } from '../../api/client.ts'
import { useGet, useLibraryNames } from '../../api/resource.ts'
import { can } from '../../api/session.ts'
import { useEdited } from '../../routing/unsaved.ts'
import { t } from '../../text/translate.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { openFilters } from './filter-chips.tsx'
import { type Condition, conditionOf, filtersOfCondition } from './filter-condition.ts'
import { FilterControl } from './filter-controls.tsx'
import {
  countFilters,
  type Filters,
  filterFields,
  noFilters,
  type SeriesSort,
  withChoices,
} from './filter-fields.ts'
import { conditionText } from './filter-texts.ts'

type FilterDialogProps = {
  filters: Filters
  sort: SeriesSort
  /** Null for all libraries. */
  libraryId: string | null
  onClose: () => void
}

export function FilterDialog({ filters, sort, libraryId, onClose }: FilterDialogProps) {
  const [draft, setDraft] = useState(filters)
  const { isEdited } = useEdited(draft)
  const count = useMatchCount(draft, libraryId)
  const apply = () => {
    onClose()
    openFilters(draft)
  }
  const actions = (
    <>
      <Button variant="quiet" text={t('filter.clear')} onClick={() => setDraft(noFilters)} />
      <Button variant="primary" onClick={apply}>
        {count === null ? t('filter.show') : t('filter.showCount', { count })}
      </Button>
    </>
  )
  return (
    <Dialog
      title={t('filter.title')}
      onClose={onClose}
      isUnsaved={isEdited}
      actions={actions}
      width="wide"
    >
      <form
        class="browse-filters"
        onSubmit={(event: Event) => {
          event.preventDefault()
          apply()
        }}
      >
        <FilterPresets
          filters={draft}
          sort={sort}
          libraryId={libraryId}
          onOpen={(preset, presetSort) => {
            onClose()
            openFilters(preset, presetSort)
          }}
        />
        <TextField
          label={t('filter.textField')}
          value={draft.text}
          maxLength={200}
          onInput={text => setDraft({ ...draft, text })}
        />
        {draft.condition && (
          <ConditionRow
            condition={draft.condition}
            onRemove={() => setDraft({ ...draft, condition: '' })}
          />
        )}
        {filterFields
          .filter(({ isForMaintainers }) => !isForMaintainers || can('BooksWrite'))
          .filter(({ name }) => name !== 'library' || libraryId === null)
          .map(field => (
            <FilterControl
              key={field.name}
              field={field}
              choices={draft.fields[field.name] ?? []}
              onChange={choices => setDraft(withChoices(draft, field.name, choices))}
            />
          ))}
      </form>
    </Dialog>
  )
}

/** The part of a saved filter or an address that the fields cannot express. */
function ConditionRow({ condition, onRemove }: { condition: string; onRemove: () => void }) {
  const names = useLibraryNames(condition.includes('ibrary'))
  return (
    <div class="browse-condition">
      <span dir="auto">{conditionText(condition, names)}</span>
      <IconButton
        icon="close"
        label={t('filter.remove', { filter: t('filter.condition') })}
        onClick={onRemove}
      />
    </div>
  )
}

const waitMs = 250

/** Number of matching series, counted after a pause in editing; null until then. */
function useMatchCount(filters: Filters, libraryId: string | null): number | null {
  const [count, setCount] = useState<number | null>(null)
  const key = JSON.stringify(filters)
  useEffect(() => {
    const controller = new AbortController()
    const timer = setTimeout(() => {
      const condition = conditionOf(filters, libraryId)
      const filter = { condition, ...(filters.text && { fullTextSearch: filters.text }) }
      const params = { query: { page: 1, pageSize: 1 } }
      const { signal } = controller
      body(api.POST('/api/v1/series/list', { params, body: filter, signal })).then(
        ({ total }) => setCount(total),
        () => setCount(null),
      )
    }, waitMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [key, libraryId])
  return count
}

type PresetsProps = {
  filters: Filters
  sort: string
  libraryId: string | null
  onOpen: (filters: Filters, sort: string | null) => void
}

/** Saved filters of an account: chosen, saved under a name, deleted. */
function FilterPresets({ filters, sort, libraryId, onOpen }: PresetsProps) {
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
