// JSON as strict readers of OPDS 2.0 take it: what is not known is not there.

/** A copy without nulls, blank texts, and lists and objects that nothing is in, at any depth. */
export function withoutEmpty(value: object): object {
  return (kept(value) as object | undefined) ?? {}
}

function kept(value: unknown): unknown {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'string') return value.trim() === '' ? undefined : value
  if (typeof value !== 'object') return value
  if (Array.isArray(value)) {
    const items = value.map(kept).filter(item => item !== undefined)
    return items.length === 0 ? undefined : items
  }
  const members: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    const own = kept(member)
    if (own !== undefined) members[name] = own
  }
  return Object.keys(members).length === 0 ? undefined : members
}
