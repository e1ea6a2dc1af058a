// Choice of a filter as links with counts, so that each choice has an address.
import { address, href } from '../routing/router.ts'
import { formatNumber, t } from '../text/translate.ts'

type Option<V> = { value: V; text: string; count?: number | undefined }
type FilterLinksProps<V extends string> = {
  label: string
  /** Parameter of the address. */
  name: string
  selected: V | undefined
  options: readonly Option<V>[]
  all: { count?: number | undefined }
}

export function FilterLinks<V extends string>(props: FilterLinksProps<V>) {
  const { label, name, selected, options, all } = props
  const link = (option: Option<V | ''>) => {
    const query = new URLSearchParams(address.value.query)
    query.delete('page')
    if (option.value === '') query.delete(name)
    else query.set(name, option.value)
    const text = query.toString()
    return (
      <a
        key={option.value}
        class="filter-link"
        href={href(address.value.path + (text && `?${text}`))}
        aria-current={(selected ?? '') === option.value ? 'true' : undefined}
      >
        {option.text}
        {option.count !== undefined && <span class="count">{formatNumber(option.count)}</span>}
      </a>
    )
  }
  return (
    <nav class="filter-links" aria-label={label}>
      {link({ value: '', text: t('filter.all'), count: all.count })}
      {options.map(link)}
    </nav>
  )
}
