// Words of the shown PDF pages, and searches in them, from the server.
import { type Signal, signal } from '@preact/signals'
import { api, body, type Schemas } from '../api/client.ts'

export type PageText = Schemas['PageText']
export type TextHit = { before: string; match: string; after: string } & Pick<
  Schemas['TextMatch'],
  'pageNumber' | 'boxes'
>

const maxPages = 20

/** Pages that were shown before are forgotten after some others. */
export function createPageTexts(id: string) {
  const pages = new Map<number, Signal<PageText | null>>()
  async function load(number: number, text: Signal<PageText | null>) {
    const params = { path: { id, page_number: number } }
    try {
      text.value = await body(api.GET('/api/v1/books/{id}/pages/{page_number}/text', { params }))
    } catch {
      // The page is shown without its text; the next time it is requested again.
      pages.delete(number)
    }
  }
  return {
    /** Null until it is loaded. */
    textOf(number: number): Signal<PageText | null> {
      const known = pages.get(number)
      if (known) return known
      const text = signal<PageText | null>(null)
      pages.set(number, text)
      if (pages.size > maxPages) pages.delete(pages.keys().next().value!)
      void load(number, text)
      return text
    },
    /** Matches in the order of the pages. Throws ApiError. */
    async *search(query: string, signal: AbortSignal): AsyncGenerator<TextHit> {
      for (let page: number | null = 1; page !== null; ) {
        const params = { path: { id }, query: { query, page } }
        const found: Schemas['TextMatches'] = await body(
          api.GET('/api/v1/books/{id}/text', { params, signal }),
        )
        for (const { text, ...match } of found.matches) yield { ...match, match: text }
        page = found.nextPage
      }
    },
  }
}
