// Administration of metadata and release sources: enable, disable, test, reset, failures, health.

import { record } from '../../base/schema.ts'
import type { Deps } from '../../http/deps.ts'
import { paged, pageQuery, pageResponse, paging } from '../../http/pagination.ts'
import { SourceId } from '../../http/params.ts'
import { type Route, route } from '../../http/route.ts'
import { SourceFailure } from '../failure.ts'
import { describeSource } from '../stored/call.ts'
import { listFailures, SourceFailureRecord } from '../stored/failure.ts'
import { changeSource, resetSource, Source, storedSource } from '../stored/source.ts'
import { type Address, addresses, requireSource } from './address.ts'
import { SourceHealth, SourceTest } from './source-schema.ts'

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
    async handle({ params: { id }, query, request, reply }, deps) {
      await requireSource(deps, address, id)
      const page = paging(query)
      const limits = { limit: page.pageSize, offset: page.offset }
      const { data, total } = await listFailures(deps.sql, id, limits)
      return pageResponse({ request, reply, query }, { data, total, paging: page })
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

export const sourceStates: readonly Route[] = addresses.flatMap(address => [
  ...changes(address),
  ...reads(address),
])
