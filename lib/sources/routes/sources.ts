// Administration of metadata and release sources: create, list, change, delete, test, failures, health. There are two
// paths: all sources, and only those that are plugins.
import { record, type Static } from '../../base/schema.ts'
import type { Deps } from '../../http/deps.ts'
import { paged, pagedResponse, pageQuery } from '../../http/pagination.ts'
import { SourceId } from '../../http/params.ts'
import { type Route, route } from '../../http/route.ts'
import { SourceFailure } from '../failure.ts'
import { describeSource, listFailures, SourceFailureRecord } from '../stored/call.ts'
import {
  changeSource,
  createSource,
  deleteSource,
  listSources,
  type NewSource as NewSourceValues,
  resetSource,
  Source,
  sourceById,
  storedSource,
  type TypeFilter,
} from '../stored/source.ts'
import {
  NewPlugin,
  NewSource,
  PluginList,
  SourceHealth,
  SourceList,
  SourceTest,
  SourceTypes,
  SourceUpdate,
} from './source-schema.ts'

type Address = {
  path: string
  /** Used in operation ids. */
  noun: 'Source' | 'Plugin'
  thing: string
  type: TypeFilter
}

const addresses: readonly Address[] = [
  { path: '/admin/sources', noun: 'Source', thing: 'source', type: null },
  { path: '/admin/plugins', noun: 'Plugin', thing: 'plugin', type: 'plugin' },
]

/** Throws NotFound, also for a source that does not belong to this path. */
const requireSource = (deps: Deps, { type }: Address, id: string): Promise<Source> =>
  sourceById(deps, id, type)

const createNote =
  'The source is not called before it is enabled. 409 if the name is taken; 400 names the invalid value.'

async function create(deps: Deps, { type, ...body }: Static<typeof NewSource>) {
  const { name, displayName = name, config = {}, credentials = {}, enabled = false } = body
  const source: NewSourceValues = { type, name, displayName, config, credentials, enabled }
  return await sourceById(deps, await createSource(deps, source))
}

const collections = [
  route('GET /admin/source-types', {
    operationId: 'listSourceTypes',
    permission: 'PluginsManage',
    // Reads no table.
    cost: 'record',
    summary: 'List the types of sources',
    description: 'Includes the JSON Schema of their `config`, and the available plugins.',
    responses: { 200: SourceTypes },
    handle: (_, { sources }) => sources.describeTypes(),
  }),
  route('GET /admin/sources', {
    operationId: 'listSources',
    permission: 'PluginsManage',
    summary: 'List the metadata and release sources',
    description: 'Sorted by display name, without credentials.',
    responses: { 200: SourceList },
    handle: async (_, deps) => ({ sources: await listSources(deps, null) }),
  }),
  route('GET /admin/plugins', {
    operationId: 'listPlugins',
    permission: 'PluginsManage',
    summary: 'List the plugin sources',
    description: 'Sorted by display name, without credentials.',
    responses: { 200: PluginList },
    handle: async (_, deps) => ({ plugins: await listSources(deps, 'plugin') }),
  }),
  route('POST /admin/sources', {
    operationId: 'createSource',
    permission: 'PluginsManage',
    summary: 'Create a source',
    description: createNote,
    body: NewSource,
    responses: { 201: Source },
    handle: ({ body }, deps) => create(deps, body),
  }),
  route('POST /admin/plugins', {
    operationId: 'createPlugin',
    permission: 'PluginsManage',
    summary: 'Create a plugin source',
    description: createNote,
    body: NewPlugin,
    responses: { 201: Source },
    handle: ({ body }, deps) => create(deps, { ...body, type: 'plugin' }),
  }),
]

const byId = (address: Address): Route[] => [
  route(`GET ${address.path}/{id}`, {
    operationId: `get${address.noun}`,
    permission: 'PluginsManage',
    summary: `Get a ${address.thing}`,
    params: SourceId,
    responses: { 200: Source },
    handle: ({ params }, deps) => requireSource(deps, address, params.id),
  }),
  route(`PATCH ${address.path}/{id}`, {
    operationId: `update${address.noun}`,
    permission: 'PluginsManage',
    summary: `Update a ${address.thing}`,
    description:
      'Absent fields are unchanged; type and name cannot be changed. `config` is replaced as a whole. 400 names the invalid value.',
    params: SourceId,
    body: SourceUpdate,
    responses: { 200: Source },
    async handle({ params, body }, deps) {
      await requireSource(deps, address, params.id)
      await changeSource(deps, params.id, body)
      return await requireSource(deps, address, params.id)
    },
  }),
  route(`DELETE ${address.path}/{id}`, {
    operationId: `delete${address.noun}`,
    permission: 'PluginsManage',
    summary: `Delete a ${address.thing}`,
    description:
      'Also deletes its lists of releases and their releases. Metadata it provided is preserved.',
    params: SourceId,
    responses: { 204: null },
    async handle({ params }, deps) {
      await requireSource(deps, address, params.id)
      await deleteSource(deps.sql, params.id)
      await deps.sources.remove(params.id)
    },
  }),
]

const changes = (address: Address): Route[] => [
  ...(['enable', 'disable'] as const).map(verb =>
    route(`POST ${address.path}/{id}/${verb}`, {
      operationId: `${verb}${address.noun}`,
      permission: 'PluginsManage',
      summary: `${verb === 'enable' ? 'Enable' : 'Disable'} a ${address.thing}`,
      description:
        verb === 'enable' ? 'It may be called from now on.' : 'What it provided is preserved.',
      params: SourceId,
      responses: { 200: Source },
      async handle({ params: { id } }, deps) {
        await requireSource(deps, address, id)
        await changeSource(deps, id, { enabled: verb === 'enable' })
        if (verb === 'disable') await deps.sources.stop(id)
        return await requireSource(deps, address, id)
      },
    }),
  ),
  route(`POST ${address.path}/{id}/test`, {
    operationId: `test${address.noun}`,
    permission: 'PluginsManage',
    summary: `Test a ${address.thing}`,
    description:
      'Calls it once, even while it is disabled or paused after failures. Stores its description, with its lists of releases; a failure of the source is not an error of this request.',
    params: SourceId,
    responses: { 200: SourceTest },
    async handle({ params: { id }, signal }, deps) {
      await requireSource(deps, address, id)
      return await test(deps, id, signal)
    },
  }),
  route(`POST ${address.path}/{id}/reset`, {
    operationId: `reset${address.noun}`,
    permission: 'PluginsManage',
    summary: `Reset the failures of a ${address.thing}`,
    description: 'It is called again when due. The failure log is preserved.',
    params: SourceId,
    responses: { 200: Source },
    async handle({ params: { id } }, deps) {
      await requireSource(deps, address, id)
      await resetSource(deps.sql, id)
      return await requireSource(deps, address, id)
    },
  }),
]

const reads = (address: Address): Route[] => [
  route(`GET ${address.path}/{id}/failures`, {
    operationId: `list${address.noun}Failures`,
    permission: 'PluginsManage',
    summary: `List the failures of a ${address.thing}`,
    description: 'Newest first, limited to the latest hundred.',
    params: SourceId,
    query: record(pageQuery),
    responses: { 200: paged(SourceFailureRecord) },
    async handle(input, deps) {
      const { id } = input.params
      await requireSource(deps, address, id)
      return await pagedResponse(input, page => listFailures(deps.sql, id, page))
    },
  }),
  route(`GET ${address.path}/{id}/health`, {
    operationId: `get${address.noun}Health`,
    permission: 'PluginsManage',
    summary: `Get the health of a ${address.thing}`,
    params: SourceId,
    responses: { 200: SourceHealth },
    async handle({ params: { id } }, deps) {
      const source = await requireSource(deps, address, id)
      const { health: status, failures, lastError, lastErrorAt, retryAt } = source
      return { status, failures, lastError, lastErrorAt, retryAt }
    },
  }),
]

async function test(deps: Deps, id: string, signal: AbortSignal) {
  const started = performance.now()
  const latencyMs = () => Math.round(performance.now() - started)
  try {
    const manifest = await describeSource(deps, await storedSource(deps.sql, id), signal)
    return { success: true, message: 'The source responds', latencyMs: latencyMs(), manifest }
  } catch (error) {
    if (!(error instanceof SourceFailure)) throw error
    return { success: false, message: error.message, latencyMs: latencyMs(), manifest: null }
  }
}

export const sources: readonly Route[] = [
  ...collections,
  ...addresses.flatMap(address => [...byId(address), ...changes(address), ...reads(address)]),
]
