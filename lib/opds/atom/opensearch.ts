// How to search the catalogue (OpenSearch 1.1, OPDS 1.2 §3.3).
import type { Links } from '../links.ts'
import { named } from './entry.ts'
import { feedType, namespaces } from './link.ts'
import { clean, document, element, text } from './xml.ts'

/** `server` is its name. Apps replace `{searchTerms}` and know no other parameter. */
export function searchDescription(links: Links, server: string): string {
  const name = named(server)
  return document(
    element(
      'OpenSearchDescription',
      { xmlns: namespaces['xmlns:opensearch'] },
      text('ShortName', shortened(name, 16)),
      text('Description', `Books in ${name}`),
      element('Url', {
        type: feedType('acquisition'),
        template: links.template('/search', '?q={searchTerms}'),
      }),
      text('InputEncoding', 'UTF-8'),
      text('OutputEncoding', 'UTF-8'),
    ),
  )
}

const letters = new Intl.Segmenter()

/** As many whole letters as fit. */
function shortened(text: string, most: number): string {
  let short = ''
  for (const { segment } of letters.segment(clean(text).trim())) {
    if (short.length + segment.length > most) break
    short += segment
  }
  return short.trim()
}
