// Choice of a filter: as links with counts, so that each choice has an address, or as a select.
import type { Library } from '../api/resource.ts'
import { address, href, setQuery } from '../routing/router.ts'
import { formatNumber, t } from '../text/translate.ts'
import { Select } from '../ui/field.tsx'

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

type FilterSelectProps = {
  label: string
  /** Parameter of the address. */
  name: string
  selected: string | undefined
  options: readonly { value: string; text: string }[]
  /** Without the choice of all. */
  isRequired?: boolean
  /** Other parameters that a choice removes. */
  removes?: readonly string[]
}

export function FilterSelect(props: FilterSelectProps) {
  const { label, name, selected = '', options, isRequired = false, removes = [] } = props
  const all = isRequired ? [] : [{ value: '', text: t('filter.all') }]
  const removed = Object.fromEntries(['page', ...removes].map(other => [other, null]))
  return (
    <Select<string>
      label={label}
      value={selected}
      options={[...all, ...options]}
      onChange={value => setQuery({ ...removed, [name]: value || null })}
    />
  )
}

type LibraryFilterProps = Pick<FilterSelectProps, 'selected' | 'isRequired' | 'removes'> & {
  libraries: readonly Library[]
}

export const LibraryFilter = ({ libraries, ...props }: LibraryFilterProps) => (
  <FilterSelect
    {...props}
    label={t('field.libraryId')}
    name="library"
    options={libraries.map(({ id, name }) => ({ value: id, text: name }))}
  />
)
