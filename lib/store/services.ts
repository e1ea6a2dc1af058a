// Services of a process: values that outlive a request, such as caches, each made once for the pool that it reads.
import type { Sql } from './postgres/db.ts'

/** The service that `create` makes, which the first call does. */
export type Services = <T>(create: (pool: Sql, services: Services) => T) => T

/** What functions take that read the database and use services. */
export type WithServices = { sql: Sql; services: Services }

export function createServices(pool: Sql): Services {
  const made = new Map<unknown, unknown>()
  const services: Services = <T>(create: (pool: Sql, services: Services) => T) => {
    if (!made.has(create)) made.set(create, create(pool, services))
    return made.get(create) as T
  }
  return services
}
