// Texts of filters: fields, values and names of libraries.
import type { LibraryNames } from '../../api/resource.ts'
import { perStar, starsText, words } from '../../organize/groupings/rule-words.ts'
import { language, t, textOr, valueKey } from '../../text/translate.ts'
import { type FilterChoice, type FilterName, filterFields } from './filter-fields.ts'

export function valueText(name: FilterName, value: string, names: LibraryNames): string {
  switch (name) {
    case 'library':
      return names.get(value) ?? '…'
    case 'readStatus':
    case 'status':
      return textOr(valueKey(name, value)!, value)
    case 'format':
      return value.toUpperCase()
    case 'type':
      return textOr(valueKey('bookType', value)!, value)
    case 'direction':
      return textOr(valueKey('readingDirection', value)!, value)
    case 'language':
      return languageName(value)
    default:
      return value
  }
}

/** A filter with its field, such as “Genre: Drama” or “Publisher: not Acme”. */
export function choiceText(
  name: FilterName,
  { value, isExcluded }: FilterChoice,
  names: LibraryNames,
): string {
  const { kind, field: key } = filterFields.find(known => known.name === name)!
  const field = t(`field.${key}`)
  if (kind === 'flag') return value === 'yes' ? field : t('filter.notFlag', { field })
  if (kind === 'range') return `${field}: ${rangeText(value)}`
  if (kind === 'stars')
    return `${field}: ${rangeText(value, stars => starsText(Number(stars) * perStar))}`
  const text = valueText(name, value, names)
  return t(isExcluded ? 'filter.excluded' : 'filter.included', { field, value: text })
}

function rangeText(range: string, textOf = (end: string) => end): string {
  const [from, to] = range.split('-', 2).map(end => end && textOf(end))
  if (from && to) return from === to ? from : `${from}–${to}`
  return from ? `≥ ${from}` : `≤ ${to}`
}

/** The part of a filter that the fields cannot express, in words. */
export function conditionText(condition: string, names: LibraryNames): string {
  try {
    return words(JSON.parse(condition), names)
  } catch {
    return t('filter.condition')
  }
}

/** The name of a language by its code, such as `pt-BR`. */
export function languageName(code: string): string {
  try {
    return new Intl.DisplayNames(language.value, { type: 'language' }).of(code) ?? code
  } catch {
    return code
  }
}
