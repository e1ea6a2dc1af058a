// OpenSearch description of the catalog search (OpenSearch 1.1, OPDS 1.2 §3.3).

import { document, element, removeInvalidChars, text } from '../../../base/xml-writer.ts'
import type { Links } from '../../publication/links.ts'
import { titleOrUntitled } from './entry.ts'
import { feedType, namespaces } from './link.ts'

/** Apps replace `{searchTerms}`, and support no other parameter. */
export function searchDescription(links: Links, serverName: string): string {
  const name = titleOrUntitled(serverName)
  return document(
    element(
      'OpenSearchDescription',
      { xmlns: namespaces['xmlns:opensearch'] },
      text('ShortName', truncate(name, 16)),
      text('Description', `Books in ${name}`),
      element('Url', {
        type: feedType('acquisition'),
        template: links.template('/search', '?q={searchTerms}'),
      }),
      // Apps use the first URL.
      element('Url', {
        type: feedType('navigation'),
        template: links.template('/series', '?search={searchTerms}'),
      }),
      text('InputEncoding', 'UTF-8'),
      text('OutputEncoding', 'UTF-8'),
    ),
  )
}

const graphemes = new Intl.Segmenter()

/** As many complete graphemes as fit. */
function truncate(text: string, maxLength: number): string {
  let short = ''
  for (const { segment } of graphemes.segment(removeInvalidChars(text).trim())) {
    if (short.length + segment.length > maxLength) break
    short += segment
  }
  return short.trim()
}
