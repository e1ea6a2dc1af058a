// `npm run check`: the parts of the check of types, style and unused code side by side, as none uses two cores.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const parts = ['check:types', 'check:others'].map(async name => {
  const [code] = await once(spawn('npm', ['run', '--silent', name], { stdio: 'inherit' }), 'close')
  return code as number | null
})
process.exitCode = (await Promise.all(parts)).every(code => code === 0) ? 0 : 1
