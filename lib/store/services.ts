// Services of a process: values that outlive a request, such as caches, each created once per pool it reads.
import type { Sql } from './postgres/db.ts'

/** Returns the service that `create` makes; only the first call creates it. */
export type Services = <T>(create: (pool: Sql, services: Services) => T) => T

/** For functions that read the database and use services. */
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
