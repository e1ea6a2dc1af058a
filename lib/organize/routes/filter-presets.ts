// The caller's filter presets: saved conditions, search words and sort orders of lists.
import type { Identity } from '../../accounts/identify.ts'
import {
  body,
  component,
  list,
  maybe,
  name,
  oneOf,
  optional,
  patchBody,
  record,
  Type,
  uuid,
} from '../../base/schema.ts'
import { PresetId } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import { checkStorable, input, requiredText } from '../../media/metadata/user-input.ts'
import {
  createPreset,
  deletePreset,
  FilterPreset,
  listPresets,
  presetById,
  presetScopes,
  presetTargets,
  replacePreset,
} from '../personal/filter-preset.ts'

const values = {
  name: name(100),
  condition: optional(
    Type.Unsafe<object>({
      type: 'object',
      description:
        'SeriesCondition or BookCondition, depending on the target; at most 32 KiB. Absent or null for none.',
    }),
  ),
  query: input.text(500, { description: 'Words to search for.' }),
  sort: input.text(100, { description: 'As in the query of a list, such as `name,asc`.' }),
  libraryId: optional(uuid({ description: 'Library the preset applies to; null for all.' })),
}
type Values = {
  name: string
  condition?: object | null
  query?: string | null
  sort?: string | null
  libraryId?: string | null
}

const roleOf = ({ permissions }: Identity) => ({ isAdmin: permissions.has('SystemAdmin') })

/** Throws Invalid. */
function parseValues(values: Values) {
  checkStorable(values)
  return {
    name: requiredText(values.name, 'body/name'),
    condition: values.condition ?? null,
    query: values.query ?? null,
    sort: values.sort ?? null,
    libraryId: values.libraryId ?? null,
  }
}

export const filterPresets = [
  route('GET /filter-presets', {
    operationId: 'listFilterPresets',
    permission: 'ProgressRead',
    cost: 'record',
    summary: 'List the filter presets of the caller',
    description: 'Sorted by name.',
    query: record({
      scope: maybe(oneOf(presetScopes, { description: 'Limits the list to this scope.' })),
      target: maybe(oneOf(presetTargets, { description: 'Limits the list to this target.' })),
      libraryId: maybe(
        uuid({ description: 'Limits the list to presets for this library or for all.' }),
      ),
    }),
    responses: {
      200: component('FilterPresetList', { presets: list(FilterPreset) }),
    },
    handle: async ({ query, viewer }, { sql }) => ({
      presets: await listPresets(sql, viewer, query),
    }),
  }),
  route('POST /filter-presets', {
    operationId: 'createFilterPreset',
    permission: 'auth',
    summary: 'Create a filter preset',
    description: '409 if the scope and target already have a preset with this name.',
    body: body('NewFilterPreset', {
      ...values,
      scope: oneOf(presetScopes),
      target: oneOf(presetTargets),
    }),
    responses: { 201: FilterPreset },
    handle: ({ body: { scope, target, ...values }, viewer, identity }, { sql }) =>
      createPreset(sql, viewer, { ...parseValues(values), scope, target }, roleOf(identity)),
  }),
  route('GET /filter-presets/{id}', {
    operationId: 'getFilterPreset',
    permission: 'ProgressRead',
    summary: 'Get a filter preset',
    params: PresetId,
    responses: { 200: FilterPreset },
    handle: ({ params, viewer }, { sql }) => presetById(sql, viewer, params.id),
  }),
  route('PUT /filter-presets/{id}', {
    operationId: 'replaceFilterPreset',
    permission: 'auth',
    summary: 'Replace a filter preset',
    description: 'Absent fields are cleared. Scope and target do not change.',
    params: PresetId,
    body: patchBody('FilterPresetUpdate', values, FilterPreset),
    responses: { 200: FilterPreset },
    handle: ({ params: { id }, body, viewer, identity }, { sql }) =>
      replacePreset(sql, viewer, { ...parseValues(body as Values), id }, roleOf(identity)),
  }),
  route('DELETE /filter-presets/{id}', {
    operationId: 'deleteFilterPreset',
    permission: 'auth',
    summary: 'Delete a filter preset',
    params: PresetId,
    responses: { 204: null },
    handle: ({ params, viewer }, { sql }) => deletePreset(sql, viewer, params.id),
  }),
]
