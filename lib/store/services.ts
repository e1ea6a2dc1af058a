// Services of a process: values that outlive a request, such as caches, each made once for the pool that it reads.
import type { Sql } from './postgres/db.ts'

/** The service that `create` makes, which the first call does. */
export type Services = <T>(create: (pool: Sql, services: Services) => T) => T

/** What functions take that read the database and use services. */
export type WithServices = { sql: Sql; services: Services }

/** `opened`: services that need more than the pool, each with the function that would make one without it. */
export function createServices(
  pool: Sql,
  opened: readonly (readonly [create: unknown, service: unknown])[] = [],
): Services {
  const made = new Map<unknown, unknown>(opened)
  const services: Services = <T>(create: (pool: Sql, services: Services) => T) => {
    if (!made.has(create)) made.set(create, create(pool, services))
    return made.get(create) as T
  }
  return services
}
