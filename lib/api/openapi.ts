// The routes as an OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.0).
import type { Route } from './route.ts'

export function openapiDocument(routes: Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const responses = Object.fromEntries(
      Object.entries(route.responses).map(([status, schema]) => [
        status,
        { description: route.summary, content: { 'application/json': { schema } } },
      ]),
    )
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: { summary: route.summary, responses },
    }
  }
  const license = { name: 'AGPL-3.0-or-later', identifier: 'AGPL-3.0-or-later' }
  return { openapi: '3.1.0', info: { title: 'Stackroom', version, license }, paths }
}
