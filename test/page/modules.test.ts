// Modules that a thread loads for the page directory of a comic: parsers of metadata would delay the first page.
import { spawnSync } from 'node:child_process'
import { test } from 'tap'
import { projectRoot } from '../kit/db.ts'

test('the page directory of a comic does not load the parsers of metadata', async t => {
  const script = `import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    const { formatNamed } = await import('./lib/media/format/formats.ts')
    for (const name of ['cbz', 'cbr', 'cb7', 'cbt']) await formatNamed(name).load()
    process.stdout.write(loaded.filter(u => /lib\\/media\\/metadata\\/|htmlparser2|saxes/.test(u)).join())`
  const args = ['--input-type=module', '--eval', script]
  const { stdout, status } = spawnSync(process.execPath, args, { cwd: projectRoot })
  t.strictSame({ status, loaded: String(stdout) }, { status: 0, loaded: '' })
})
