// Who made a book, as Atom knows them: authors, and others.
import type { Author } from '../../metadata/metadata.ts'
import { element, isBlank, text, type Xml } from './xml.ts'

// The first of these that anyone has are its authors. A comic without a writer is its artist's; who
// has no role is the author of a PDF.
const creators: ReadonlySet<string>[] = [
  new Set(['writer', 'author', '']),
  new Set(['illustrator', 'artist', 'penciller']),
]

/** Each once, authors first, else in the order given; none without a name. */
export function people(everyone: readonly Author[]): Xml[] {
  const named = everyone.filter(({ name }) => !isBlank(name))
  const roles = creators.find(roles => named.some(({ role }) => roles.has(role ?? '')))
  const authors = new Set(
    named.filter(({ role }) => roles?.has(role ?? '')).map(({ name }) => name),
  )
  const contributors = new Set(named.map(({ name }) => name)).difference(authors)
  const written = (kind: string) => (name: string) => element(kind, {}, text('name', name))
  return [...[...authors].map(written('author')), ...[...contributors].map(written('contributor'))]
}
