// Plugin that misbehaves as its setting `mode` demands.
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

let mode = 'good'
const reply = (id, result) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
const description = {
  name: 'misbehaving',
  displayName: 'Misbehaving',
  version: '1',
  homepage: null,
  capabilities: ['metadata'],
  releaseSources: [],
}
const modes = {
  good: id => reply(id, description),
  hang() {},
  die: () => process.exit(3),
  kill: () => process.kill(process.pid, 'SIGKILL'),
  text: () => process.stdout.write('Hello, this is no JSON\n'),
  'wrong-id': id => reply(id + 1, description),
  twice(id) {
    reply(id, description)
    reply(id, description)
  },
  'wrong-shape': id => reply(id, { ...description, capabilities: 'metadata' }),
  'wrong-url': id => reply(id, { ...description, homepage: 'javascript:alert(1)' }),
  flood() {
    const block = Buffer.alloc(1024 * 1024, 'x')
    const write = n => n > 0 && process.stdout.write(block, () => write(n - 1))
    write(1024)
  },
  memory() {
    const blocks = []
    setInterval(() => blocks.length < 14 && blocks.push(Buffer.alloc(32 * 1024 * 1024, 1)), 20)
  },
  environment(id) {
    // What the test runner adds.
    const names = Object.keys(process.env).filter(name => !/^_?TAP|^NODE_/.test(name))
    reply(id, { ...description, displayName: names.sort().join(' ') })
  },
  secret(id, { credentials }) {
    const error = { code: 1, message: `cannot sign in with ${credentials.token}` }
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`)
  },
  // A process of its own that ignores the end of its input.
  child(id, { file }) {
    const child = spawn('/bin/sh', ['-c', 'sleep 1000'], { stdio: 'ignore' })
    appendFileSync(file, `${process.pid} ${child.pid}\n`)
    reply(id, description)
  },
}

let start = {}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') {
    start = params
    mode = params.settings.mode
    reply(id, {})
  } else modes[mode](id, { ...start.settings, credentials: start.credentials })
}
// The input was closed; only a kill ends the process.
if (mode === 'child') setInterval(() => {}, 1000)
