// The pages of a feed, and the addresses of its neighbours (RFC 5005).
import type { Feed, Paging } from './feed.ts'
import type { Links } from './links.ts'

/** Items a page, unless more or fewer are asked for. */
const usual = 50

export type PageLink = { rel: 'self' | 'first' | 'previous' | 'next' | 'last'; href: string }

/** The feed's own address, and those of other pages when it has pages. */
export function pageLinks({ path, query, paging }: Feed, links: Links): PageLink[] {
  if (paging === null) return [{ rel: 'self', href: links.to(path, query) }]
  const { page, pageSize } = paging
  const last = lastPage(paging)
  const size = pageSize === usual ? undefined : pageSize
  const to = (page: number) =>
    links.to(path, { ...query, page: page === 1 ? undefined : page, pageSize: size })
  return [
    { rel: 'self', href: to(page) },
    { rel: 'first', href: to(1) },
    ...(page > 1 ? [{ rel: 'previous' as const, href: to(Math.min(page - 1, last)) }] : []),
    ...(page < last ? [{ rel: 'next' as const, href: to(page + 1) }] : []),
    { rel: 'last', href: to(last) },
  ]
}

/** From 1; a feed without items has one page. */
export const lastPage = ({ total, pageSize }: Paging): number =>
  Math.max(1, Math.ceil(total / pageSize))
