// Build of the web application with esbuild: scripts, style sheets, texts and icons, compressed, under an address with
// the digest of all files.
import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { build, type Metafile, transform } from 'esbuild'
import { type Asset, compress } from './compress.ts'
import { appFolder, entryModule, initialStyles, serviceWorkerFile } from './sources.ts'
import { textCatalogs } from './texts.ts'

export type Build = {
  /** Digest of all files, which is part of their addresses. */
  digest: string
  /** By path below the folder of the build, such as `main.js`. */
  assets: Map<string, Asset>
  /** The entry script and its static imports, all needed for the first view. */
  initialModules: string[]
  serviceWorker: Asset
}

// The browsers of docs/web.md.
const target = ['chrome123', 'edge123', 'firefox121', 'safari17.5', 'ios17.5']
const outputFolder = 'built'
/** Extensions of files that are not transformed. */
const copied = ['json', 'svg', 'png', 'html', 'woff2', 'txt']

/** Reads and transforms all files. Throws what the file system and esbuild throw. */
export async function buildApp(): Promise<Build> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: appFolder,
    entryPoints: [entryModule, ...(await loadedFiles())],
    outbase: '.',
    outdir: outputFolder,
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    // Package licenses are in node_modules, which the server includes.
    legalComments: 'none',
    target,
    loader: Object.fromEntries(copied.map(extension => [`.${extension}`, 'copy'])),
    plugins: [textCatalogs],
    logLevel: 'silent',
  })
  const folder = join(appFolder, outputFolder)
  const files = outputFiles
    .map(file => ({ path: slashed(relative(folder, file.path)), content: file.contents }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  const digest = digestOf(files)
  const assets = new Map<string, Asset>()
  // One at a time, because an encoder uses several megabytes.
  for (const { path, content } of files) assets.set(path, await compress(path, content))
  const worker = await serviceWorker(digest, [...assets.keys()])
  return { digest, assets, initialModules: initialModules(metafile), serviceWorker: worker }
}

const slashed = (path: string) => path.split(sep).join('/')

/** Style sheets, texts, icons, fonts with their licenses and documents, which are loaded by address. */
async function loadedFiles(): Promise<string[]> {
  const paths = (await readdir(appFolder, { recursive: true })).map(slashed)
  const isLoaded = (path: string) =>
    path.startsWith('styles/')
      ? path === initialStyles
      : new RegExp(`\\.(?:css|${copied.join('|')})$`).test(path) && path !== 'tsconfig.json'
  return paths.filter(isLoaded).sort()
}

function initialModules({ outputs }: Metafile): string[] {
  const found = new Set([`${outputFolder}/main.js`])
  // Grows while it is walked.
  for (const path of found)
    for (const { path: imported, kind } of outputs[path]!.imports)
      if (kind === 'import-statement') found.add(imported)
  return [...found].map(path => path.slice(outputFolder.length + 1))
}

function digestOf(files: { path: string; content: Uint8Array }[]): string {
  const parts = files.map(({ path, content }) => `${path}\n${hash('sha256', content)}\n`)
  return hash('sha256', parts.join('')).slice(0, 16)
}

/** The service worker has a fixed address, so that browsers find new versions; it contains the digest. */
async function serviceWorker(digest: string, paths: string[]): Promise<Asset> {
  const source = await readFile(serviceWorkerFile, 'utf8')
  const { code } = await transform(source, {
    loader: 'ts',
    minify: true,
    target,
    define: { build: JSON.stringify({ digest, paths }) },
  })
  return await compress('service-worker.js', Buffer.from(code))
}
