// Empty values in JSON, which OPDS 2.0 documents must not contain.

/** Paths of null, `''`, blank strings, `[]` and `{}`. */
export function emptyValues(value: unknown, path = '$'): string[] {
  if (value === undefined || typeof value === 'number' || typeof value === 'boolean') return []
  if (value === null) return path === '$' ? [] : [path]
  if (typeof value === 'string') return value.trim() === '' ? [path] : []
  const members = Object.entries(value)
  if (members.length === 0) return [path]
  return members.flatMap(([name, member]) => emptyValues(member, `${path}.${name}`))
}
