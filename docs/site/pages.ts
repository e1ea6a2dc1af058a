// The pages of the site: copies in a folder of its own, because VitePress finds its modules from there.
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

export const repository = join(import.meta.dirname, '..', '..')
export const pagesFolder = join(import.meta.dirname, 'pages')

export function copyPages(): void {
  rmSync(pagesFolder, { recursive: true, force: true })
  const documents = readdirSync(join(repository, 'docs')).filter(name => name.endsWith('.md'))
  const paths = [
    ...['README.md', 'SECURITY.md', 'CHANGELOG.md', 'docs/pictures'],
    ...documents.map(name => `docs/${name}`),
  ]
  for (const path of paths)
    cpSync(join(repository, path), join(pagesFolder, path), { recursive: true })
}
