// Dialog with all filters of a list and the saved ones; the list changes when it is confirmed.
import { useEffect, useState } from 'preact/hooks'
import { useLibraryNames } from '../../api/resource.ts'
import { can } from '../../api/session.ts'
import { navigate } from '../../routing/router.ts'
import { useEdited } from '../../routing/unsaved.ts'
import { t } from '../../text/translate.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { openFilters } from './filter-chips.tsx'
import { conditionOf } from './filter-condition.ts'
import { FilterControl } from './filter-controls.tsx'
import {
  countFilters,
  type Filters,
  fieldsOf,
  type ListKind,
  noFilters,
  type Sort,
  withChoices,
} from './filter-fields.ts'
import { conditionText } from './filter-texts.ts'
import { filteredPage } from './filtered-page.ts'
import { deletePreset, type Preset, pathOfPreset, savePreset, usePresets } from './presets.ts'

type FilterDialogProps = {
  kind: ListKind
  filters: Filters
  sort: Sort
  /** Null for all libraries. */
  libraryId: string | null
  onClose: () => void
}

export function FilterDialog({ kind, filters, sort, libraryId, onClose }: FilterDialogProps) {
  const [draft, setDraft] = useState(filters)
  const { isEdited } = useEdited(draft)
  const count = useMatchCount(kind, draft, libraryId)
  const apply = () => {
    onClose()
    openFilters(draft)
  }
  const actions = (
    <>
      <Button variant="quiet" text={t('filter.clear')} onClick={() => setDraft(noFilters)} />
      <Button variant="primary" onClick={apply}>
        {count === null ? t(`filter.show.${kind}`) : t(`filter.showCount.${kind}`, { count })}
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
          kind={kind}
          filters={draft}
          sort={sort}
          libraryId={libraryId}
          onOpen={preset => {
            onClose()
            navigate(pathOfPreset(preset))
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
        {fieldsOf(kind)
          .filter(({ isForMaintainers }) => !isForMaintainers || can('BooksWrite'))
          .filter(({ name }) => name !== 'library' || libraryId === null)
          .map(field => (
            <FilterControl
              key={field.name}
              field={field}
              isOfSeries={kind === 'series'}
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

/** Number of matches, counted after a pause in editing; null until then. */
function useMatchCount(kind: ListKind, filters: Filters, libraryId: string | null): number | null {
  const [count, setCount] = useState<number | null>(null)
  const key = JSON.stringify(filters)
  useEffect(() => {
    const controller = new AbortController()
    const timer = setTimeout(() => {
      const condition = conditionOf(filters, libraryId)
      const page = { page: 1, pageSize: 1 }
      filteredPage(kind, { ...page, condition, text: filters.text }, controller.signal).then(
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
  kind: ListKind
  filters: Filters
  sort: string
  libraryId: string | null
  onOpen: (preset: Preset) => void
}

/** Saved filters of an account: chosen, saved under a name, deleted. */
function FilterPresets({ kind, filters, sort, libraryId, onOpen }: PresetsProps) {
  const [name, setName] = useState<string | null>(null)
  const shown = usePresets()?.filter(
    preset =>
      preset.target === kind && (preset.libraryId === null || preset.libraryId === libraryId),
  )
  const save = async () => {
    const condition = conditionOf(filters, null) as Record<string, never> | null
    const stored = { condition, query: filters.text || null, sort, libraryId }
    await savePreset({ name: name!.trim(), target: kind, ...stored })
    setName(null)
  }
  if (!shown || (shown.length === 0 && countFilters(filters) === 0)) return null
  return (
    <fieldset class="browse-options browse-presets">
      <legend>{t('filter.presets')}</legend>
      <div class="browse-option-list">
        {shown.map(preset => (
          <span key={preset.id} class="browse-preset">
            <button type="button" class="browse-option" onClick={() => onOpen(preset)}>
              {preset.name}
            </button>
            <IconButton
              icon="delete"
              label={t('filter.deletePreset', { name: preset.name })}
              onClick={() => deletePreset(preset)}
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
