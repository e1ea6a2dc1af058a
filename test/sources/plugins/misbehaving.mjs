// Plugin that misbehaves as its setting `mode` demands.
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

let mode = 'good'
const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const reply = (id, result) => send({ id, result })
const release = releasedAt => ({
  ...{ externalReleaseId: '1', title: 'One', payloadUrl: 'https://x.example/', mediaUrl: null },
  ...{ mediaUrlKind: null, infoHash: null, groupOrUploader: null, language: null, chapters: null },
  ...{ volumes: null, formatHints: {}, metadata: {}, seriesTitles: [], seriesIds: {}, releasedAt },
})
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
  // As some JSON-RPC libraries answer.
  'null-error': id => send({ id, result: description, error: null }),
  'late-retry': id =>
    send({ id, error: { message: 'no', data: { retryAt: '+275760-09-12T00:00:00Z' } } }),
  date: (id, { releasedAt }) =>
    reply(id, { items: [release(releasedAt)], cursor: null, isLast: true }),
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
    send({ id, error })
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
