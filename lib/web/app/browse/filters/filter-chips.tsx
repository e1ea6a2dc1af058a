// Filters in use, each with a button that removes it; opening a list with other filters.
import { useLibraryNames } from '../../api/resource.ts'
import { address, navigate } from '../../routing/router.ts'
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import {
  countFilters,
  type Filters,
  filterFields,
  noFilters,
  withChoices,
  withFilters,
} from './filter-fields.ts'
import { choiceText, conditionText } from './filter-texts.ts'

export function FilterChips({ filters }: { filters: Filters }) {
  const names = useLibraryNames(
    (filters.fields.library?.length ?? 0) > 0 || filters.condition.includes('ibrary'),
  )
  if (countFilters(filters) === 0) return null
  const chips = filterFields.flatMap(({ name }) =>
    (filters.fields[name] ?? []).map(choice => {
      const others = filters.fields[name]!.filter(other => other !== choice)
      return (
        <Chip
          key={`${name} ${choice.isExcluded} ${choice.value}`}
          text={choiceText(name, choice, names)}
          isExcluded={choice.isExcluded}
          onRemove={() => openFilters(withChoices(filters, name, others))}
        />
      )
    }),
  )
  if (filters.text)
    chips.push(
      <Chip
        key="text"
        text={t('filter.text', { text: filters.text })}
        onRemove={() => openFilters({ ...filters, text: '' })}
      />,
    )
  if (filters.condition)
    chips.push(
      <Chip
        key="condition"
        text={conditionText(filters.condition, names)}
        onRemove={() => openFilters({ ...filters, condition: '' })}
      />,
    )
  return (
    <div class="row browse-chips">
      {chips}
      <Button variant="quiet" text={t('filter.clear')} onClick={() => openFilters(noFilters)} />
    </div>
  )
}

type ChipProps = { text: string; isExcluded?: boolean; onRemove: () => void }

function Chip({ text, isExcluded = false, onRemove }: ChipProps) {
  return (
    <button
      type="button"
      class={`browse-chip${isExcluded ? ' excluded' : ''}`}
      aria-label={t('filter.remove', { filter: text })}
      onClick={onRemove}
    >
      <span dir="auto">{text}</span>
      <Icon name="close" size={14} />
    </button>
  )
}

/** Shows the list with other filters. */
export function openFilters(filters: Filters, sort?: string | null) {
  const query = withFilters(address.value.query, filters)
  if (sort) query.set('sort', sort)
  const text = query.toString()
  navigate(address.value.path + (text && `?${text}`))
}
