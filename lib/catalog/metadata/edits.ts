// Edits of metadata by users: request bodies and their conversion to stored values, from the field
// descriptors.

import { strict, type TSchema } from '../../base/schema.ts'
import {
  composedFields,
  fileFields,
  roleEdit,
  roleFields,
  roleLock,
  userFields,
} from '../../media/metadata/book-fields.ts'
import type { Edit, Field } from '../../media/metadata/field.ts'
import { seriesFields } from '../../media/metadata/series-fields.ts'

/** A field that users edit; a role has no storage of its own, because it is part of the authors. */
type EditableField = { edit: Edit; lock: string; storage: Field | null }

type Editable<F> = { [K in keyof F]: EditableField }

const editable = <F extends Record<string, Field>>(fields: F) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      { edit: field.edit!, lock: field.lock, storage: field },
    ]),
  ) as Editable<F>

const { authors, genre, isbns } = composedFields

const roles = Object.fromEntries(
  Object.entries(roleFields).map(([name, role]) => [
    name,
    { edit: roleEdit, lock: roleLock(role), storage: null },
  ]),
) as Editable<typeof roleFields>

export const bookEdits = {
  ...editable({ ...fileFields, ...userFields, authors, genre, isbns }),
  ...roles,
}
export const seriesEdits = editable(seriesFields)

type Edits = Readonly<Record<string, EditableField>>

/** Properties of a request body that edits these fields. */
export function editSchemas<E extends Edits>(edits: E): { [K in keyof E]: TSchema } {
  const schemas = Object.entries(edits).map(([name, { edit }]) => [name, edit.schema])
  return strict(Object.fromEntries(schemas)).properties as { [K in keyof E]: TSchema }
}

/** `patch` changes only the present fields, `put` clears the absent ones. */
export type EditMode = 'patch' | 'put'

/** Changed fields by wire name with the value to store; null clears. Throws Invalid. */
export type Changes = ReadonlyMap<string, unknown>

export function parseChanges(
  edits: Edits,
  values: Readonly<Record<string, unknown>>,
  mode: EditMode,
): Changes {
  const changes = new Map<string, unknown>()
  for (const [name, { edit }] of Object.entries(edits)) {
    const value = values[name]
    if (value === undefined && (mode === 'patch' || edit.isPreservedByPut)) continue
    if (value === undefined || value === null) {
      if (!edit.isRequired) changes.set(name, null)
    } else changes.set(name, edit.parse ? edit.parse(value as never, `body/${name}`) : value)
  }
  return changes
}
