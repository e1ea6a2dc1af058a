// Pages of names, by their addresses.
import type { SectionEntry } from '../ui/page-header.tsx'

export const sections = [
  { path: 'people', icon: 'users', text: 'field.authors' },
  { path: 'genres', icon: 'list', text: 'field.genres' },
  { path: 'tags', icon: 'tag', text: 'field.tags' },
  { path: 'publishers', icon: 'library', text: 'names.publishers' },
] as const satisfies readonly SectionEntry[]

export type NameKind = (typeof sections)[number]['path']
