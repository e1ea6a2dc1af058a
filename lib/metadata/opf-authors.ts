// Creators and contributors of a package document, their MARC relator codes, and the names to sort by.
import type { Author } from './metadata.ts'
import type { Statements } from './opf-metadata.ts'
import { line } from './text.ts'
import { textOf, type XmlElement } from './xml.ts'

// Codes of id.loc.gov/vocabulary/relators and, since people write them, plain words.
const roles: Record<string, string> = {
  aut: 'writer',
  aus: 'writer',
  cre: 'writer',
  dub: 'writer',
  lbt: 'writer',
  author: 'writer',
  writer: 'writer',
  art: 'illustrator',
  ill: 'illustrator',
  pht: 'illustrator',
  drm: 'penciller',
  artist: 'illustrator',
  illustrator: 'illustrator',
  penciller: 'penciller',
  inker: 'inker',
  clr: 'colorist',
  colorist: 'colorist',
  ltr: 'letterer',
  letterer: 'letterer',
  cov: 'cover_artist',
  bjd: 'cover_artist',
  edt: 'editor',
  edc: 'editor',
  pbd: 'editor',
  red: 'editor',
  editor: 'editor',
  trl: 'translator',
  translator: 'translator',
  nrt: 'narrator',
  narrator: 'narrator',
}

/** In document order, creators first; one entry per name and role. Book producers are left out: they are programs. */
export function authorsOf(statements: Statements): Author[] | undefined {
  const found = new Map<string, Author>()
  for (const element of [...statements.dc('creator'), ...statements.dc('contributor')]) {
    const name = line(textOf(element))
    if (name === undefined || found.size >= 1000) continue
    for (const role of rolesOf(statements, element)) {
      const key = `${role}:${name.toLowerCase()}`
      if (!found.has(key)) found.set(key, { name, role, sortName: sortName(statements, element) })
    }
  }
  return found.size > 0 ? [...found.values()] : undefined
}

/** What is known of the roles said; Standard Ebooks gives an author also those of his notes and foreword. */
function rolesOf({ refinedAll }: Statements, element: XmlElement): Set<string> {
  const codes = refinedAll(element, 'role').map(role => role.toLowerCase().replace(/^.*[/:]/, ''))
  if (codes.length === 0) return new Set([element.name === 'creator' ? 'writer' : 'contributor'])
  const known = new Set(codes.flatMap(code => (Object.hasOwn(roles, code) ? [roles[code]!] : [])))
  if (known.size > 0) return known
  return new Set(codes.every(code => code === 'bkp') ? [] : ['contributor'])
}

function sortName({ refined }: Statements, element: XmlElement): string | null {
  const sort = refined(element, 'file-as')
  // Calibre repeats the sort names of all authors on each of them.
  if (sort?.includes(' & ') && !textOf(element).includes('&')) return null
  return sort ?? null
}
