// Administration of metadata and release sources: create, list, change, delete.

import type { Static } from '../../base/schema.ts'
import type { Deps } from '../../http/deps.ts'
import { SourceId } from '../../http/params.ts'
import { type Route, route } from '../../http/route.ts'
import {
  changeSource,
  createSource,
  deleteSource,
  listSources,
  type NewSource as NewSourceValues,
  Source,
  sourceById,
} from '../stored/source.ts'
import { type Address, addresses, requireSource } from './address.ts'
import {
  NewPlugin,
  NewSource,
  PluginList,
  SourceList,
  SourceTypes,
  SourceUpdate,
} from './source-schema.ts'

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
  route('POST /admin/sources', {
    operationId: 'createSource',
    permission: 'PluginsManage',
    summary: 'Create a source',
    description: createNote,
    body: NewSource,
    responses: { 201: Source },
    handle: ({ body }, deps) => create(deps, body),
  }),
  route('GET /admin/plugins', {
    operationId: 'listPlugins',
    permission: 'PluginsManage',
    summary: 'List the plugin sources',
    description: 'Sorted by display name, without credentials.',
    responses: { 200: PluginList },
    handle: async (_, deps) => ({ plugins: await listSources(deps, 'plugin') }),
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

export const sources: readonly Route[] = [...collections, ...addresses.flatMap(byId)]
