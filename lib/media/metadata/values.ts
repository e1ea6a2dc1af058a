// Types of structured or enumerated metadata values, with their schemas.
import { component, nullable, record, type Static, Type } from '../../base/schema.ts'
import { words } from '../../base/words.ts'

export const readingDirections = ['ltr', 'rtl', 'ttb', 'webtoon'] as const
export type ReadingDirection = (typeof readingDirections)[number]

export const seriesStatuses = ['ongoing', 'ended', 'hiatus', 'abandoned', 'unknown'] as const

export const authorRoles = [
  ...words('author co_author editor translator illustrator contributor writer penciller'),
  ...words('inker colorist letterer cover_artist narrator'),
] as const

export const bookTypes = [
  ...words('comic manga novel novella anthology artbook oneshot omnibus graphic_novel'),
  ...words('magazine'),
] as const

/** Files may contain roles besides `authorRoles`. */
export const Author = component('Author', {
  name: Type.String(),
  role: nullable(Type.String()),
  sortName: nullable(Type.String()),
})
export type Author = Static<typeof Author>

export const AlternateTitle = component('AlternateTitle', {
  label: Type.String(),
  title: Type.String(),
})
export type AlternateTitle = Static<typeof AlternateTitle>

export const StoryArc = record({ name: Type.String(), number: nullable(Type.String()) })
export type StoryArc = Static<typeof StoryArc>

export const Identifier = record({ scheme: Type.String(), value: Type.String() })
export type Identifier = Static<typeof Identifier>

export const Link = component('WebLink', {
  source: Type.String(),
  url: Type.String(),
  externalId: nullable(Type.String()),
})
export type Link = Static<typeof Link>

export const Award = component('Award', {
  name: Type.String(),
  year: nullable(Type.Integer()),
  category: nullable(Type.String()),
  won: Type.Boolean(),
})
export type Award = Static<typeof Award>

export type CustomMetadata = Record<string, unknown>

/** ComicInfo `Page`: `image` is the zero-based index into the pages in natural order. */
export type PageNote = {
  image: number
  type: string | null
  double: boolean
  bookmark: string | null
}
