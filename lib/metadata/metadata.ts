// What a source can say about a book. Every field is optional: an absent field was not said.

/** Roles are the catalogue's words: writer, penciller, inker, colorist, letterer, cover_artist, editor, translator, … */
export type Author = { name: string; role: string | null; sortName: string | null }
export type Link = { source: string; url: string; externalId: string | null }
export type Identifier = { scheme: string; value: string }
export type AlternateTitle = { label: string; title: string }
export type StoryArc = { name: string; number: string | null }
export const readingDirections = ['ltr', 'rtl', 'ttb', 'webtoon'] as const
export type ReadingDirection = (typeof readingDirections)[number]
export const seriesStatuses = ['ongoing', 'ended', 'hiatus', 'abandoned', 'unknown'] as const
export type SeriesStatus = (typeof seriesStatuses)[number]

/** ComicInfo `Page`: `image` is the zero-based index into the pages in natural order. */
export type PageNote = {
  image: number
  type: string | null
  double: boolean
  bookmark: string | null
}

export type Metadata = Partial<{
  title: string
  titleSort: string
  alternateTitles: AlternateTitle[]
  series: string
  seriesSort: string
  seriesGroup: string
  /** As written: `1`, `1.5`, `1/2`, `Annual 1`, `½`. */
  number: string
  /** How many books the series has, as the source says. */
  count: number
  volume: number
  /** May be fractional. */
  chapter: number
  summary: string
  notes: string
  review: string
  year: number
  month: number
  day: number
  authors: Author[]
  publisher: string
  imprint: string
  genres: string[]
  tags: string[]
  characters: string[]
  teams: string[]
  locations: string[]
  storyArcs: StoryArc[]
  /** BCP 47, canonical when it can be. */
  language: string
  /** Years: 0, 10, 13, 15, 17, 18. */
  ageRating: number
  /** Publication status of the series. */
  status: SeriesStatus
  readingDirection: ReadingDirection
  manga: boolean
  blackAndWhite: boolean
  /** ComicInfo Format, e.g. `Trade Paperback`. */
  format: string
  scanInformation: string
  /** 0 to 100. */
  rating: number
  /** 13 digits, without hyphens. */
  isbn: string
  identifiers: Identifier[]
  links: Link[]
  /** EPUB rendition:layout. */
  layout: 'reflowable' | 'pre-paginated'
  pageNotes: PageNote[]
}>

/** Where a field came from, highest priority first; stored per field as provenance. */
export const metadataSources = [
  'user',
  'comicinfo',
  'metroninfo',
  'epub',
  'opf',
  'pdf',
  'series_json',
  'filename',
  'folder',
] as const
export type MetadataSource = (typeof metadataSources)[number]

/** One source's reading. `warnings` are short sentences without paths, stored on the book. */
export type SourceReading = { source: MetadataSource; metadata: Metadata; warnings: string[] }
