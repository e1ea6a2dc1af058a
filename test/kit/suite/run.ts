// Runs several test files in one process, each as a subtest: node test/kit/suite/run.ts FILE...
// Starting a process per file takes longer than most files: 0.4 s of CPU time for tap, 1.3 s with the API.
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'

// Before tap is loaded, which names the folders of tests after the arguments.
const files = process.argv.splice(2)
const fileTap = new URL('./tap.ts', import.meta.url).href
const domain = new URL('./domain.ts', import.meta.url).href
// Ten times as long as the longest takes on two idle cores.
const fileTimeoutMs = 900_000

registerHooks({
  resolve(specifier, context, nextResolve) {
    const use = (url: string) => ({ url, format: 'module-typescript', shortCircuit: true })
    const importer = context.parentURL ?? ''
    if (specifier === 'async-hook-domain') return use(domain)
    if (specifier === 'tap' && importer.endsWith('.test.ts'))
      return use(`${fileTap}?${encodeURIComponent(importer)}`)
    return nextResolve(specifier, context)
  },
})

const { default: tap } = await import('tap')
const { setCurrentTest } = await import('./current.ts')

for (const type of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(type, error => innermost(tap).threw(error))

/** The test that is running; its parent if several of its subtests run side by side. */
function innermost(t: Test): Test {
  const [running, ...others] = t.activeSubtests as Set<Test>
  return running && others.length === 0 ? innermost(running) : t
}

tap.setTimeout(0)
for (const file of files)
  await tap.test(file, { timeout: fileTimeoutMs }, async t => {
    setCurrentTest(t)
    await import(pathToFileURL(resolve(file)).href)
  })
