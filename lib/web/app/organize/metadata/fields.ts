// Metadata fields of series and books in the editors: tabs, kinds of controls, limits, locks.
import { bookTypes, readingDirections, seriesStatuses } from '../../api/enumerations.ts'

export type Owner = 'series' | 'books'

export type FieldKind =
  | { kind: 'text'; maxLength: number; isRequired?: true }
  | { kind: 'long'; maxLength: number }
  | { kind: 'number'; min: number; max: number; isInteger?: true }
  | { kind: 'choice'; values: readonly string[]; isRequired?: true }
  | { kind: 'flag' }
  | { kind: 'texts'; suggestions?: 'genres' | 'tags' }
  | { kind: 'authors' }
  | { kind: 'titles' }
  | { kind: 'awards' }
  | { kind: 'links' }
  | { kind: 'sharing' }
  | { kind: 'json' }

export type FieldName = string

export type Field = FieldKind & {
  name: FieldName
  /** Name of its lock; null if scans never change it. */
  lock: string | null
  /** Part of the metadata record; other fields have separate requests. */
  isPlain: boolean
  /** As wide as two fields. */
  isWide: boolean
  /** Offered in the bulk editor. */
  isShared: boolean
}

export const tabs = ['general', 'publication', 'people', 'labels', 'links', 'sharing'] as const
export type TabName = (typeof tabs)[number]

export const authorRoles = [
  ...(['author', 'co_author', 'writer', 'penciller', 'inker', 'colorist', 'letterer'] as const),
  ...(['cover_artist', 'illustrator', 'editor', 'translator', 'contributor', 'narrator'] as const),
]

const narrowKinds = new Set(['text', 'number', 'choice', 'flag'])
const ownRequests = new Set(['genres', 'tags', 'links', 'sharing'])

type Options = { lock?: string | null; isShared?: true; isWide?: true }

const field = (name: FieldName, kind: FieldKind, options: Options = {}): Field => ({
  ...kind,
  name,
  lock: options.lock === undefined ? name : options.lock,
  isPlain: !ownRequests.has(name),
  isWide: !narrowKinds.has(kind.kind) || options.isWide === true,
  isShared: options.isShared ?? false,
})

const text = (name: string, maxLength: number, options?: Options) =>
  field(name, { kind: 'text', maxLength }, options)
const number = (name: string, min: number, max: number, options?: Options) =>
  field(name, { kind: 'number', min, max }, options)
const integer = (name: string, min: number, max: number, options?: Options) =>
  field(name, { kind: 'number', min, max, isInteger: true }, options)
const choice = (name: string, values: readonly string[], options?: Options) =>
  field(name, { kind: 'choice', values }, options)

const maxCount = 1_000_000
const isShared = true
const title = field('title', { kind: 'text', maxLength: 1000, isRequired: true }, { isWide: true })
const authors = field('authors', { kind: 'authors' }, { lock: 'authorsJsonLock', isShared })
const links = field('links', { kind: 'links' }, { lock: null })
const custom = field('customMetadata', { kind: 'json' })
const labels = (name: 'genres' | 'tags', lock: string) =>
  field(name, { kind: 'texts', suggestions: name }, { lock, isShared })

const seriesFields: Partial<Record<TabName, readonly Field[]>> = {
  general: [
    title,
    text('titleSort', 1000, { isWide: true }),
    field('summary', { kind: 'long', maxLength: 20_000 }),
    field('status', { kind: 'choice', values: seriesStatuses, isRequired: true }, { isShared }),
    integer('year', -9999, 9999, { isShared }),
    text('language', 50, { isShared }),
    choice('readingDirection', readingDirections, { isShared }),
    integer('ageRating', 0, 100, { isShared }),
  ],
  publication: [
    text('publisher', 300, { isShared }),
    text('imprint', 300, { isShared }),
    integer('totalVolumeCount', 0, maxCount, { isShared }),
    number('totalChapterCount', 0, maxCount, { isShared }),
    custom,
  ],
  people: [authors],
  labels: [labels('genres', 'genres'), labels('tags', 'tags')],
  links: [field('alternateTitles', { kind: 'titles' }), links],
  sharing: [field('sharing', { kind: 'sharing' }, { lock: null })],
}

const lockOfBook = (field: Field): Field =>
  field.lock === null || field.lock.endsWith('Lock')
    ? field
    : { ...field, lock: `${field.lock}Lock` }

const bookFields: Partial<Record<TabName, readonly Field[]>> = {
  general: [
    title,
    text('titleSort', 1000, { isWide: true }),
    text('subtitle', 1000, { isWide: true }),
    text('number', 50),
    number('volume', -maxCount, maxCount),
    number('chapter', -maxCount, maxCount),
    field('summary', { kind: 'long', maxLength: 20_000 }),
    integer('ageRating', 0, 100, { isShared }),
    choice('readingDirection', readingDirections, { isShared }),
    choice('bookType', bookTypes, { isShared }),
    text('languageIso', 50, { isShared }),
    field('manga', { kind: 'flag' }, { isShared }),
    field('blackAndWhite', { kind: 'flag' }, { isShared }),
  ].map(lockOfBook),
  publication: [
    text('publisher', 300, { isShared }),
    text('imprint', 300, { isShared }),
    integer('year', -9999, 9999),
    integer('month', 1, 12),
    integer('day', 1, 31),
    text('isbns', 1000),
    text('edition', 300, { isShared }),
    text('formatDetail', 200),
    text('originalTitle', 1000, { isShared }),
    integer('originalYear', -9999, 9999, { isShared }),
    integer('count', 0, maxCount),
    number('seriesPosition', -maxCount, maxCount),
    integer('seriesTotal', 0, maxCount),
    custom,
  ].map(lockOfBook),
  people: [authors],
  labels: [
    labels('genres', 'genreLock'),
    labels('tags', 'tagsLock'),
    lockOfBook(field('subjects', { kind: 'texts' })),
  ],
  links: [links, lockOfBook(field('awards', { kind: 'awards' }))],
}

/** By tab; a tab without fields is not shown. */
export const fieldsOf = (owner: Owner) => (owner === 'series' ? seriesFields : bookFields)

export const allFields = (owner: Owner): readonly Field[] => Object.values(fieldsOf(owner)).flat()
