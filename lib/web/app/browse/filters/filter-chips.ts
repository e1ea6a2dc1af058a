// Filters in use, each with a button that removes it.
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.ts'
import { h } from '../../ui/h.ts'
import { Icon } from '../../ui/icon.ts'
import {
  countFilters,
  type Filters,
  filterFields,
  noFilters,
  withChoices,
} from './filter-fields.ts'
import { choiceText, conditionText, useLibraryNames } from './filter-texts.ts'
import { openFilters } from './series-address.ts'

export function FilterChips({ filters }: { filters: Filters }) {
  const names = useLibraryNames(
    (filters.fields.library?.length ?? 0) > 0 || filters.condition.includes('ibrary'),
  )
  if (countFilters(filters) === 0) return null
  const chips = filterFields.flatMap(({ name }) =>
    (filters.fields[name] ?? []).map(choice => {
      const others = filters.fields[name]!.filter(other => other !== choice)
      return h(Chip, {
        key: `${name} ${choice.isExcluded} ${choice.value}`,
        text: choiceText(name, choice, names),
        isExcluded: choice.isExcluded,
        onRemove: () => openFilters(withChoices(filters, name, others)),
      })
    }),
  )
  if (filters.text)
    chips.push(
      h(Chip, {
        key: 'text',
        text: t('filter.text', { text: filters.text }),
        onRemove: () => openFilters({ ...filters, text: '' }),
      }),
    )
  if (filters.condition)
    chips.push(
      h(Chip, {
        key: 'condition',
        text: conditionText(filters.condition, names),
        onRemove: () => openFilters({ ...filters, condition: '' }),
      }),
    )
  return h(
    'div',
    { class: 'browse-chips' },
    chips,
    h(Button, { variant: 'quiet', onClick: () => openFilters(noFilters) }, t('filter.clear')),
  )
}

type ChipProps = { text: string; isExcluded?: boolean; onRemove: () => void }

function Chip({ text, isExcluded = false, onRemove }: ChipProps) {
  return h(
    'button',
    {
      type: 'button',
      class: `browse-chip${isExcluded ? ' excluded' : ''}`,
      'aria-label': t('filter.remove', { filter: text }),
      onClick: onRemove,
    },
    h('span', { dir: 'auto' }, text),
    h(Icon, { name: 'close', size: 14 }),
  )
}
