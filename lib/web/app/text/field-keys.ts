// Keys of the texts of fields of series and books, and of values of fields that have only a few.

/** Fields that have several names in the API, by the name of their text. */
const aliases: Record<string, string> = {
  addedAt: 'dateAdded',
  externalLinks: 'links',
  formatDetail: 'format',
  languageIso: 'language',
  seriesStatus: 'status',
}

const plainName = (name: string) => aliases[name] ?? name

export const fieldKey = (name: string): string => `field.${plainName(name)}`

export const hintKey = (name: string): string => `metadata.hint.${plainName(name)}`

/** Null for a field with any number of values. */
export function valueKey(field: string, value: string): string | null {
  switch (plainName(field)) {
    case 'bookType':
      return `metadata.bookType.${value}`
    case 'readingDirection':
      return `direction.${value}`
    case 'readStatus':
      return `readStatus.${value}`
    case 'status':
      return `series.status.${value}`
    default:
      return null
  }
}
