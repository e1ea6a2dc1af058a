// Dialog with all filters of a series list and the saved ones; the list changes when it is confirmed.
import { useEffect, useState } from 'preact/hooks'
import { api, body } from '../../api/client.ts'
import { can } from '../../api/session.ts'
import { useLibraryNames } from '../../api/use-libraries.ts'
import { useEdited } from '../../routing/unsaved.ts'
import { t } from '../../text/translate.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { conditionOf } from './filter-condition.ts'
import { FilterControl } from './filter-controls.tsx'
import { type Filters, filterFields, noFilters, withChoices } from './filter-fields.ts'
import { FilterPresets } from './filter-presets.tsx'
import { conditionText } from './filter-texts.ts'
import { openFilters, type SeriesSort } from './series-address.ts'

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
      const filter = {
        condition: conditionOf(filters, libraryId),
        ...(filters.text && { fullTextSearch: filters.text }),
      }
      body(
        api.POST('/api/v1/series/list', {
          params: { query: { page: 1, pageSize: 1 } },
          body: filter,
          signal: controller.signal,
        }),
      ).then(
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
