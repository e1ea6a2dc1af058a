// Where work ran, which only administrators may see.
import type { Identity } from '../../accounts/identity.ts'

/** Fields in records of work. */
type WithHost = { host: string | null; pid: number | null }

/** The record, without host and process for accounts that are not administrators. */
export function forIdentity<R extends WithHost>({ permissions }: Identity, record: R): R {
  return permissions.has('SystemAdmin') ? record : { ...record, host: null, pid: null }
}
