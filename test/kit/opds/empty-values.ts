/** Places in JSON that hold nothing: null, `''`, blanks, `[]`, `{}` (OPDS 2.0 has none). */
export function blanks(value: unknown, place = '$'): string[] {
  if (value === undefined || typeof value === 'number' || typeof value === 'boolean') return []
  if (value === null) return place === '$' ? [] : [place]
  if (typeof value === 'string') return value.trim() === '' ? [place] : []
  const parts = Object.entries(value)
  if (parts.length === 0) return [place]
  return parts.flatMap(([name, part]) => blanks(part, `${place}.${name}`))
}
