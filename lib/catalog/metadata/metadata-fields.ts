// Which fields of metadata users may write, where they are stored, and what a request makes of them.
import { readingDirections, seriesStatuses } from '../../metadata/metadata.ts'
import { body, list, maybe, nullable, type Static, type TSchema, Type, text } from '../../schema.ts'
import {
  authorsOf,
  bookTypeOf,
  bookTypes,
  checkCustom,
  directionOf,
  field,
  isbnsOf,
  languageOf,
  namesIn,
  plainText,
  statusOf,
  texts,
  titlesOf,
  wording,
} from './metadata-values.ts'

/** `at` is the place of the value in the request; throws Invalid. */
type Reading<T extends TSchema> = (value: NonNullable<Static<T>>, at: string) => unknown

type Place = {
  /** Column of the row, or member of `more`. */
  column?: string
  more?: string
  /** Name in `locks`, when it is not that of the place. */
  lock?: string
  /** Null leaves it as it is. */
  required?: true
  /** A PUT that lacks it leaves it as it is. */
  stays?: true
  /** What a cleared column holds instead of null. */
  empty?: unknown
  json?: true
}
export type Field<T extends TSchema = TSchema> = Place & {
  schema: T
  of: ((value: never, at: string) => unknown) | null
}
export type Fields = Readonly<Record<string, Field>>

const of = <T extends TSchema>(schema: T, place: Place, reading?: Reading<T>): Field<T> => ({
  ...place,
  schema,
  of: (reading as Field['of']) ?? null,
})

const line = (column: string, maxLength: number, more: Place = {}) =>
  of(field.text(maxLength), { column, ...more }, plainText)
const year = () => field.integer(-9999, 9999)
const titled = { column: 'title', required: true, stays: true } as const

const AlternateTitles = maybe(
  nullable(
    list(body({ label: text(200), title: text(1000) }), {
      maxItems: 500,
      description: 'A PUT that lacks them leaves them.',
    }),
  ),
)

export const seriesFields = {
  title: of(field.text(1000), titled, wording),
  titleSort: line('title_sort', 1000),
  summary: line('summary', 20_000),
  publisher: line('publisher', 300),
  imprint: line('imprint', 300),
  status: of(field.word(seriesStatuses), { column: 'status', empty: 'unknown' }, statusOf),
  ageRating: of(field.integer(0, 100), { column: 'age_rating' }),
  language: of(field.text(50, 'BCP 47.'), { column: 'language' }, languageOf),
  readingDirection: of(field.word(readingDirections), { column: 'reading_direction' }, directionOf),
  year: of(year(), { column: 'year' }),
  totalVolumeCount: of(field.integer(0, 1_000_000), { column: 'total_volume_count' }),
  totalChapterCount: of(field.number(0, 1_000_000), { column: 'total_chapter_count' }),
  customMetadata: of(field.custom(), { column: 'custom_metadata', json: true }, checkCustom),
  authors: of(field.authors(), { column: 'authors', json: true, empty: [] }, authorsOf),
  alternateTitles: of(
    AlternateTitles,
    { column: 'alternate_titles', json: true, empty: [], stays: true },
    titlesOf,
  ),
} as const satisfies Fields

const people = (role: string) =>
  of(
    field.text(5000, 'Names with commas between; they take the place of all with this role.'),
    { lock: `authors.${role}`, stays: true },
    namesIn,
  )

/** Texts that name the people of one role, by the role. */
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

const BookNumber = maybe(
  Type.Unsafe<number | string | null>({
    anyOf: [
      { type: 'number', minimum: -1_000_000_000, maximum: 1_000_000_000 },
      { type: 'string', maxLength: 50 },
      { type: 'null' },
    ],
    description: 'A number, or as it is written: `1`, `1.5`, `Annual 1`.',
  }),
)

const Awards = maybe(
  nullable(
    list(
      body({
        name: text(500, { minLength: 1 }),
        year: year(),
        category: field.text(500),
        won: maybe(Type.Boolean()),
      }),
      { maxItems: 500 },
    ),
  ),
)
export type Award = {
  name: string
  year?: number | null | undefined
  category?: string | null | undefined
  won: boolean
}

export const bookFields = {
  title: of(field.text(1000), titled, wording),
  titleSort: line('title_sort', 1000, { stays: true }),
  number: of(BookNumber, { column: 'number', stays: true }, value => plainText(String(value))),
  summary: line('summary', 20_000),
  writer: people(roleFields.writer),
  penciller: people(roleFields.penciller),
  inker: people(roleFields.inker),
  colorist: people(roleFields.colorist),
  letterer: people(roleFields.letterer),
  coverArtist: people(roleFields.coverArtist),
  editor: people(roleFields.editor),
  translator: people(roleFields.translator),
  authors: of(
    field.authors(),
    { column: 'authors', lock: 'authors.all', json: true, empty: [] },
    authorsOf,
  ),
  publisher: line('publisher', 300),
  imprint: line('imprint', 300),
  genre: of(
    field.text(5000, 'Names with commas between.'),
    { column: 'genres', empty: [] },
    namesIn,
  ),
  languageIso: of(
    maybe(nullable(text(50, { aliases: ['language'], description: 'BCP 47.' }))),
    { column: 'language' },
    languageOf,
  ),
  formatDetail: of(field.text(200), { more: 'format' }, plainText),
  blackAndWhite: of(field.boolean(), { more: 'blackAndWhite' }),
  manga: of(field.boolean(), { more: 'manga' }),
  year: of(year(), { column: 'year' }),
  month: of(field.integer(1, 12), { column: 'month' }),
  day: of(field.integer(1, 31), { column: 'day' }),
  volume: of(field.number(-1_000_000, 1_000_000), { column: 'volume' }),
  chapter: of(field.number(-1_000_000, 1_000_000), { column: 'chapter' }),
  count: of(field.integer(0, 1_000_000), { more: 'count' }),
  isbns: of(
    maybe(nullable(text(1000, { aliases: ['isbn'], description: 'Commas between several.' }))),
    { column: 'isbn' },
    isbnsOf,
  ),
  ageRating: of(field.integer(0, 100), { column: 'age_rating', stays: true }),
  readingDirection: of(
    field.word(readingDirections),
    { column: 'reading_direction', stays: true },
    directionOf,
  ),
  bookType: of(field.word(bookTypes), { more: 'bookType' }, bookTypeOf),
  subtitle: of(field.text(1000), { more: 'subtitle' }, plainText),
  edition: of(field.text(300), { more: 'edition' }, plainText),
  originalTitle: of(field.text(1000), { more: 'originalTitle' }, plainText),
  originalYear: of(year(), { more: 'originalYear' }),
  seriesPosition: of(field.number(-1_000_000, 1_000_000), { more: 'seriesPosition' }),
  seriesTotal: of(field.integer(0, 1_000_000), { more: 'seriesTotal' }),
  subjects: of(field.texts(300), { more: 'subjects' }, texts),
  awards: of(Awards, { more: 'awards' }, awards =>
    awards.map((award): Award => ({ ...award, won: award.won ?? false })),
  ),
  customMetadata: of(field.custom(), { more: 'customMetadata' }, checkCustom),
} as const satisfies Fields

type Properties<F extends Fields> = { [K in keyof F]: F[K]['schema'] }

/** The body that writes these fields. */
export function fieldsBody<F extends Fields>(fields: F) {
  const properties = Object.entries(fields).map(([name, { schema }]) => [name, schema])
  return body(Object.fromEntries(properties) as Properties<F>)
}

/**
 * Fields by name with what to store, null for those to clear: `some` are those that were given,
 * `all` those and the absent ones. Throws Invalid.
 */
export function changesOf(
  fields: Fields,
  given: Readonly<Record<string, unknown>>,
  which: 'some' | 'all',
): Map<string, unknown> {
  const changes = new Map<string, unknown>()
  for (const [name, field] of Object.entries(fields)) {
    const value = given[name]
    if (value === undefined && (which === 'some' || field.stays)) continue
    if (value === undefined || value === null) {
      if (!field.required) changes.set(name, null)
    } else changes.set(name, field.of ? field.of(value as never, `body/${name}`) : value)
  }
  return changes
}

/** `blackAndWhite` → `black_and_white`. */
export const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** Under which names a field is locked. */
export function lockOf({ lock, column, more }: Field): string {
  return lock ?? column ?? snake(more!)
}
