// Parameters of paths: each is named in the path and has a schema.
import type { Test } from 'tap'
import { endpoints, type Route } from '../../../lib/http/route.ts'

export function checkPathParameters(t: Test, routes: readonly Route[]) {
  for (const route of routes)
    for (const { method, path } of endpoints(route)) {
      const { properties = {} } = (route.params ?? {}) as { properties?: object }
      const named = [...path.matchAll(/\{(\w+|\*)\}/g)].map(([, name]) => name)
      t.same(Object.keys(properties).sort(), named.sort(), `${method} ${path}`)
    }
}
