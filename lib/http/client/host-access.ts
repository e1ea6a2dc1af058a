// Where work ran, which only administrators may know.
import type { Identity } from '../../accounts/identity.ts'

/** Fields of records of work. */
type WithHost = { host: string | null; pid: number | null }

/** The record without host and process for an account that is no administrator. */
export function forIdentity<R extends WithHost>({ permissions }: Identity, record: R): R {
  return permissions.has('SystemAdmin') ? record : { ...record, host: null, pid: null }
}
