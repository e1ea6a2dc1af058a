// Metadata fields of books: one descriptor per field. The API record, the request body, locks, event
// names, `Metadata` and the columns that a scan writes are derived from these lists.
//
// A new field of ComicInfo.xml: add it to `fileFields` or `readOnlyFields`, parse it in comicinfo.ts and,
// if it has a column, add that to the schema in sql/.
import { list, nullable, oneOf, Type, writtenJson } from '../../base/schema.ts'
import { column, edit, type Fields, member, texts } from './field.ts'
import {
  input,
  parseAuthors,
  parseBookType,
  parseCustomMetadata,
  parseIsbns,
  parseLanguage,
  parseReadingDirection,
  requiredText,
  splitNames,
  trimmedText,
  uniqueTexts,
} from './user-input.ts'
import {
  AlternateTitle,
  Author,
  Award,
  bookTypes,
  Identifier,
  Link,
  readingDirections,
  StoryArc,
  seriesStatuses,
} from './values.ts'

const text = () => nullable(Type.String())
const editText = (maxLength: number, options?: Parameters<typeof edit>[2]) =>
  edit(input.text(maxLength), trimmedText, options)
const year = () => edit(input.integer(-9999, 9999))
const decimal = () => edit(input.number(-1_000_000, 1_000_000))
const counter = () => edit(input.integer(0, 1_000_000))
const isPreservedByPut = true
const isNamedInEvents = false

/** Filled from files; users may edit and lock them. By wire name. */
export const fileFields = {
  title: column('title', 'text', Type.String(), {
    edit: edit(input.name(1000), requiredText, { isRequired: true, isPreservedByPut }),
  }),
  titleSort: column('titleSort', 'text', text(), { edit: editText(1000, { isPreservedByPut }) }),
  // As written: `1`, `1.5`, `1/2`, `Annual 1`, `½`.
  number: column('number', 'text', nullable(Type.String({ description: 'As written.' })), {
    edit: edit(input.bookNumber(), value => trimmedText(String(value)), { isPreservedByPut }),
  }),
  summary: column('summary', 'text', text(), { edit: editText(20_000) }),
  publisher: column('publisher', 'text', text(), { edit: editText(300) }),
  imprint: column('imprint', 'text', text(), { edit: editText(300) }),
  languageIso: column('language', 'text', nullable(Type.String({ description: 'BCP 47.' })), {
    edit: edit(input.text(50, { aliases: ['language'], description: 'BCP 47.' }), parseLanguage),
  }),
  year: column('year', 'integer', nullable(Type.Integer()), { edit: year() }),
  month: column('month', 'smallint', nullable(Type.Integer()), {
    edit: edit(input.integer(1, 12)),
    isNamedInEvents,
  }),
  day: column('day', 'smallint', nullable(Type.Integer()), {
    edit: edit(input.integer(1, 31)),
    isNamedInEvents,
  }),
  volume: column('volume', 'double precision', nullable(Type.Number()), {
    edit: decimal(),
    isNamedInEvents,
  }),
  // May be fractional.
  chapter: column('chapter', 'double precision', nullable(Type.Number()), {
    edit: decimal(),
    isNamedInEvents,
  }),
  count: member(
    'count',
    nullable(
      Type.Integer({ description: 'Number of books in the series, according to the source.' }),
    ),
    { edit: counter() },
  ),
  // One of 0, 10, 13, 15, 17, 18 if it comes from a file.
  ageRating: column('ageRating', 'integer', nullable(Type.Integer({ description: 'In years.' })), {
    edit: edit(input.integer(0, 100), null, { isPreservedByPut }),
  }),
  readingDirection: column('readingDirection', 'text', nullable(oneOf(readingDirections)), {
    edit: edit(input.word(readingDirections), parseReadingDirection, { isPreservedByPut }),
  }),
  // ComicInfo Format, e.g. `Trade Paperback`.
  formatDetail: member('format', text(), { edit: editText(200) }),
  blackAndWhite: member('blackAndWhite', nullable(Type.Boolean()), { edit: edit(input.boolean()) }),
  manga: member('manga', nullable(Type.Boolean()), { edit: edit(input.boolean()) }),
  subtitle: member('subtitle', text(), { edit: editText(1000) }),
  edition: member('edition', text(), { edit: editText(300) }),
} as const satisfies Fields

/** Filled from files; not editable. By wire name. */
export const readOnlyFields = {
  alternateTitles: member('alternateTitles', list(AlternateTitle)),
  seriesGroup: member('seriesGroup', text()),
  storyArcs: member('storyArcs', list(StoryArc)),
  characters: member('characters', texts()),
  teams: member('teams', texts()),
  locations: member('locations', texts()),
  notes: member('notes', text()),
  scanInformation: member('scanInformation', text()),
  identifiers: member('identifiers', list(Identifier)),
  links: member('links', list(Link)),
} as const satisfies Fields

/** Filled by users only. By wire name. */
export const userFields = {
  bookType: member('bookType', nullable(oneOf(bookTypes)), {
    edit: edit(input.word(bookTypes), parseBookType),
  }),
  originalTitle: member('originalTitle', text(), { edit: editText(1000) }),
  originalYear: member('originalYear', nullable(Type.Integer()), { edit: year() }),
  seriesPosition: member('seriesPosition', nullable(Type.Number()), { edit: decimal() }),
  seriesTotal: member('seriesTotal', nullable(Type.Integer()), { edit: counter() }),
  subjects: member('subjects', texts(), { edit: edit(input.texts(300), uniqueTexts) }),
  awards: member('awards', list(Award), {
    edit: edit(input.awards(), awards =>
      awards.map(
        ({ name, year = null, category = null, won = false }): Award => ({
          name,
          year,
          category,
          won,
        }),
      ),
    ),
  }),
  customMetadata: member(
    'customMetadata',
    writtenJson({ description: 'The object as it was sent, or null.' }),
    { edit: edit(input.custom(), parseCustomMetadata) },
  ),
} as const satisfies Fields

/** Filled from files and stored in columns; book-metadata-record.ts composes their wire forms. */
export const composedFields = {
  authors: column('authors', 'jsonb', list(Author), {
    lock: 'authors.all',
    edit: edit(input.authors(), parseAuthors),
  }),
  genre: column('genres', 'text[]', texts(), {
    edit: edit(input.text(5000, { description: 'Names, separated by commas.' }), splitNames),
  }),
  tags: column('tags', 'text[]', texts()),
  // 13 digits. Additional ones set by a user are in the `isbns` member of `extra_metadata`.
  isbns: column('isbn', 'text', text(), {
    edit: edit(
      input.text(1000, { aliases: ['isbn'], description: 'Separated by commas.' }),
      parseIsbns,
    ),
    isNamedInEvents,
  }),
} as const satisfies Fields

/** Filled from files and stored, but not part of the API. */
export const internalFields = {
  seriesSort: member('seriesSort', Type.String()),
  review: member('review', Type.String()),
  // 0 to 100.
  rating: member('rating', Type.Integer()),
  // Publication status of the series.
  status: member('status', oneOf(seriesStatuses)),
  // EPUB rendition:layout.
  layout: member('layout', oneOf(['reflowable', 'pre-paginated'])),
} as const satisfies Fields

/** All fields that scans fill. */
export const scannedFields = {
  ...fileFields,
  ...readOnlyFields,
  ...composedFields,
  ...internalFields,
} as const

/** Fields with the same wire form and stored form. By wire name. */
export const plainFields = { ...fileFields, ...userFields, ...readOnlyFields } as const

/** Parts of `authors` that users edit as one text per role. Wire name → role. */
export const roleFields = {
  writer: 'writer',
  penciller: 'penciller',
  inker: 'inker',
  colorist: 'colorist',
  letterer: 'letterer',
  coverArtist: 'cover_artist',
  editor: 'editor',
  translator: 'translator',
} as const

export const roleEdit = edit(
  input.text(5000, {
    description: 'Names, separated by commas; they replace all authors with this role.',
  }),
  splitNames,
  { isPreservedByPut },
)
export const roleLock = (role: string) => `authors.${role}`
