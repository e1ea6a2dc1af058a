// Authors of an OPF package document: creators and contributors, MARC relator codes, sort names.

import type { MetadataStatements } from './opf-statements.ts'
import { singleLine } from './text.ts'
import type { Author } from './values.ts'
import { textOf, type XmlElement } from './xml.ts'

// Codes from id.loc.gov/vocabulary/relators, and English words used in their place.
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

/**
 * In document order, creators first; one entry per name and role. Omits book producers (`bkp`), which are
 * programs.
 */
export function authorsOf(statements: MetadataStatements): Author[] | undefined {
  const authors = new Map<string, Author>()
  for (const element of [...statements.dc('creator'), ...statements.dc('contributor')]) {
    const name = singleLine(textOf(element))
    if (name === undefined || authors.size >= 1000) continue
    for (const role of rolesOf(statements, element)) {
      const key = `${role}:${name.toLowerCase()}`
      if (!authors.has(key))
        authors.set(key, { name, role, sortName: sortName(statements, element) })
    }
  }
  return authors.size > 0 ? [...authors.values()] : undefined
}

/** The known roles of an element; Standard Ebooks also declares roles for notes and foreword. */
function rolesOf({ refinedAll }: MetadataStatements, element: XmlElement): Set<string> {
  const codes = refinedAll(element, 'role').map(role => role.toLowerCase().replace(/^.*[/:]/, ''))
  if (codes.length === 0) return new Set([element.name === 'creator' ? 'writer' : 'contributor'])
  const known = new Set(codes.flatMap(code => (Object.hasOwn(roles, code) ? [roles[code]!] : [])))
  if (known.size > 0) return known
  return new Set(codes.every(code => code === 'bkp') ? [] : ['contributor'])
}

function sortName({ refined }: MetadataStatements, element: XmlElement): string | null {
  const sort = refined(element, 'file-as')
  // Calibre writes the sort names of all authors to each of them.
  if (sort?.includes(' & ') && !textOf(element).includes('&')) return null
  return sort ?? null
}
