// Opens the source of a preset with a local server in the place of its service.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { TypedRow } from '../../../lib/sources/open.ts'
import { presetFiles } from '../../../lib/sources/presets/presets.ts'
import { openTestSources } from '../sources.ts'
import { bookServices } from './book-services.ts'
import { type Service, services } from './services.ts'

export const call = { signal: new AbortController().signal }

export type Fault = { status?: number; headers?: Record<string, string>; body: string } | null

const serviceOf = (name: string): Service => (services[name] ?? bookServices[name])!

async function startService(t: Test, name: string) {
  const sent: { method: string; url: string; text: string }[] = []
  const state = { fault: null as Fault }
  const server = createServer(async (request, response) => {
    const at = new URL(request.url!, 'http://service')
    const body = await text(request)
    sent.push({ method: request.method!, url: request.url!, text: body })
    if (state.fault) {
      response.writeHead(state.fault.status ?? 200, state.fault.headers).end(state.fault.body)
      return
    }
    const { status = 200, json } = serviceOf(name)(Object.assign(request, { at, text: body }))
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent, state }
}

const credentialsOf: Record<string, Record<string, string>> = {
  'comic-vine': { key: 'cv-key' },
  metron: { username: 'ana', password: 'metron-pass' },
}

/** The source of a preset, with the service's host replaced. */
export async function openPreset(t: Test, name: string, credentials = credentialsOf[name] ?? {}) {
  const service = await startService(t, name)
  const { config } = presetFiles.find(file => file.name === name)!
  const local = JSON.parse(
    JSON.stringify(config, (key, value) =>
      key === 'url' && typeof value === 'string' && value.startsWith('https:')
        ? value.replace(/^https:\/\/[^/]+/, service.base)
        : value,
    ),
  )
  delete local.limits
  const row: TypedRow = {
    ...{ id: '1', type: 'http', name, displayName: name, description: null },
    ...{ config: local, credentials },
  }
  const sources = openTestSources(t)
  sources.checkConfig(row)
  return { ...service, source: sources.open(row) }
}
