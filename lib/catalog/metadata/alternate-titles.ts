// Alternate titles of a series, each with an id: elements of the column `alternate_titles`, which metadata edits
// replace as a whole.
import { newId } from '../../base/id.ts'
import { component, type Static, Type, timestamp, uuid } from '../../base/schema.ts'
import type { AlternateTitle } from '../../media/metadata/values.ts'

export const AlternateTitleRecord = component('AlternateTitleRecord', {
  id: uuid(),
  seriesId: uuid(),
  label: Type.String(),
  title: Type.String(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
})
export type AlternateTitleRecord = Static<typeof AlternateTitleRecord>

/** An element of the column. */
export type StoredTitle = Omit<AlternateTitleRecord, 'seriesId'>

/** Per series. */
export const maxAlternateTitles = 500

/**
 * A list of titles with ids and times. An element with an id keeps it; one without an id matches the element of
 * the current list with the same label and title, or is new.
 */
export function identifiedTitles(
  current: readonly StoredTitle[],
  titles: readonly (AlternateTitle | StoredTitle)[],
): StoredTitle[] {
  const now = new Date().toISOString()
  const byContent = new Map(current.map(title => [contentOf(title), title]))
  return titles.map(({ label, title, ...stored }) => {
    if ('id' in stored) return { ...(stored as StoredTitle), label, title }
    const {
      id = newId(),
      createdAt = now,
      updatedAt = now,
    } = byContent.get(contentOf({ label, title })) ?? {}
    return { id, label, title, createdAt, updatedAt }
  })
}

/** Titles with the same label and text are equal. */
export const contentOf = ({ label, title }: AlternateTitle) => JSON.stringify([label, title])
