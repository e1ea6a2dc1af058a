// Metadata fields of series: one descriptor per field. The API record, the request body, locks, event
// names and the columns that a scan writes are derived from this list.
import { list, nullable, oneOf, Type, writtenJson } from '../../base/schema.ts'
import { column, edit, type Field, type Fields } from './field.ts'
import {
  input,
  parseAlternateTitles,
  parseAuthors,
  parseCustomMetadata,
  parseLanguage,
  parseReadingDirection,
  parseStatus,
  requiredText,
  trimmedText,
} from './user-input.ts'
import { AlternateTitle, Author, readingDirections, seriesStatuses } from './values.ts'

const text = () => nullable(Type.String())
const editText = (maxLength: number) => edit(input.text(maxLength), trimmedText)

/** By wire name. */
export const seriesFields = {
  title: column('title', 'text', Type.String(), {
    edit: edit(input.name(1000), requiredText, { isRequired: true, isPreservedByPut: true }),
  }),
  titleSort: column('titleSort', 'text', text(), { edit: editText(1000) }),
  summary: column('summary', 'text', text(), { edit: editText(20_000) }),
  publisher: column('publisher', 'text', text(), { edit: editText(300) }),
  imprint: column('imprint', 'text', text(), { edit: editText(300) }),
  status: column('status', 'text', oneOf(seriesStatuses), {
    empty: 'unknown',
    edit: edit(input.word(seriesStatuses), parseStatus),
  }),
  ageRating: column('ageRating', 'integer', nullable(Type.Integer({ description: 'In years.' })), {
    edit: edit(input.integer(0, 100)),
  }),
  language: column('language', 'text', nullable(Type.String({ description: 'BCP 47.' })), {
    edit: edit(input.text(50, { description: 'BCP 47.' }), parseLanguage),
  }),
  readingDirection: column('readingDirection', 'text', nullable(oneOf(readingDirections)), {
    edit: edit(input.word(readingDirections), parseReadingDirection),
  }),
  year: column('year', 'integer', nullable(Type.Integer()), {
    edit: edit(input.integer(-9999, 9999)),
  }),
  totalVolumeCount: column(
    'totalVolumeCount',
    'integer',
    nullable(Type.Integer({ description: 'Published volumes, not just the ones in the library.' })),
    { edit: edit(input.integer(0, 1_000_000)) },
  ),
  totalChapterCount: column('totalChapterCount', 'double precision', nullable(Type.Number()), {
    edit: edit(input.number(0, 1_000_000)),
  }),
  customMetadata: column(
    'customMetadata',
    'text',
    writtenJson({ description: 'The object as it was sent, or null.' }),
    { edit: edit(input.custom(), parseCustomMetadata) },
  ),
  authors: column('authors', 'jsonb', list(Author), { edit: edit(input.authors(), parseAuthors) }),
  alternateTitles: column('alternateTitles', 'jsonb', list(AlternateTitle), {
    edit: edit(input.alternateTitles(), parseAlternateTitles, { isPreservedByPut: true }),
  }),
} as const satisfies Fields

/** From a series.json file, which takes precedence over books and folder. */
export const seriesJsonFields = [
  seriesFields.title,
  seriesFields.publisher,
  seriesFields.year,
  seriesFields.summary,
  seriesFields.status,
  seriesFields.ageRating,
  seriesFields.totalChapterCount,
] as const satisfies Field[]

/** The series gets the most frequent value of its books. */
export const bookMajorityFields = [
  seriesFields.publisher,
  seriesFields.language,
  seriesFields.ageRating,
  seriesFields.readingDirection,
] as const satisfies Field[]

/** Fields that scans fill; the title has other sources too. */
export const scannedSeriesFields: readonly Field[] = [
  ...new Set<Field>([...seriesJsonFields, ...bookMajorityFields]),
].filter(field => field !== seriesFields.title)
