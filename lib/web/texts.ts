// Text catalogs as they are served: complete, with the English text where a translation is missing.
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Plugin } from 'esbuild'
import type { Catalog } from './app/text/catalog.ts'

/** An empty text is one that waits for its translation. */
const isMissing = (text: Catalog[string] | undefined) =>
  !(typeof text === 'object' ? text.other : text)

export const completed = (texts: Catalog, english: Catalog): Catalog =>
  Object.fromEntries(
    Object.entries(english).map(([key, text]) => [key, isMissing(texts[key]) ? text : texts[key]!]),
  )

const read = async (path: string): Promise<Catalog> => JSON.parse(await readFile(path, 'utf8'))

/** So the application needs no second catalog at run time. */
export const textCatalogs: Plugin = {
  name: 'text catalogs',
  setup(build) {
    build.onLoad({ filter: /[\\/]text[\\/][\w-]+\.json$/ }, async ({ path }) => ({
      contents: JSON.stringify(
        completed(await read(path), await read(join(dirname(path), 'en.json'))),
      ),
      loader: 'copy',
    }))
  },
}
