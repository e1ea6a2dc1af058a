// Links of the documents to files that are not pages of the site: to the repository if its address is known
// (SITE_REPOSITORY, such as https://example.org/stackroom/blob/main), otherwise only their text.
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'
import { pagesFolder, repository } from './pages.ts'

const address = process.env.SITE_REPOSITORY?.replace(/\/$/, '')

export function linkSources(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('sources', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let isDropped = false
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const path = sourceOf(token.attrGet('href') ?? '', env.realPath ?? env.path)
          if (path !== null && address) token.attrSet('href', `${address}/${path}`)
          isDropped = path !== null && !address
        }
        if (isDropped && /^link_(?:open|close)$/.test(token.type)) {
          isDropped = token.type === 'link_open'
          Object.assign(token, { type: 'text', tag: '', nesting: 0, content: '' })
        }
      }
    }
  })
}

/** Path in the repository of a file or folder that is no page; null for other links. Throws for one that does not exist. */
function sourceOf(href: string, page: string): string | null {
  if (/^(?:[a-z]+:|#|\/)/.test(href) || /\.md(?:#|$)/.test(href)) return null
  const name = relative(pagesFolder, page)
  const path = join(dirname(name), href.replace(/#.*/, ''))
  if (!existsSync(join(repository, path))) throw new Error(`${name}: dead link ${href}`)
  return path
}
