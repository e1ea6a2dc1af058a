// Links of the built site: each leads to a file, and to a heading that exists. VitePress itself checks pages, not anchors.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Throws for dead links in the HTML below `folder`. */
export function checkLinks(folder: string, base: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const pages = new Map(
    names
      .filter(name => name.endsWith('.html'))
      .map(name => [`/${name}`, readFileSync(join(folder, name), 'utf8')]),
  )
  const fileOf = (path: string) =>
    [path, `${path}.html`, `${path}index.html`].find(
      name => !name.endsWith('/') && existsSync(join(folder, name)),
    )
  const dead = [...pages].flatMap(([page, html]) =>
    [...html.matchAll(/\s(?:href|src)="([^"]+)"/g)]
      .map(([, link]) => new URL(link!, `https://site${base}${page.slice(1)}`))
      .filter(({ host, pathname, hash }) => {
        if (host !== 'site') return false
        const file = fileOf(`/${decodeURIComponent(pathname).slice(base.length)}`)
        const anchor = decodeURIComponent(hash.slice(1))
        return !file || (anchor && !pages.get(file)?.includes(`id="${anchor}"`))
      })
      .map(({ pathname, hash }) => `${page}: dead link ${pathname}${hash}`),
  )
  if (dead.length > 0) throw new Error(dead.join('\n'))
}
