// GET /health: whether the server and its database answer.
import Type from 'typebox'
import type { Route } from './route.ts'

const Health = Type.Object({
  status: Type.Union([Type.Literal('ok'), Type.Literal('unavailable')]),
})

export const health: Route = {
  method: 'GET',
  path: '/health',
  summary: 'Health check',
  responses: { 200: Health, 503: Health },
  async handle({ sql }) {
    try {
      await sql`select 1`
      return { status: 200, body: { status: 'ok' } }
    } catch {
      return { status: 503, body: { status: 'unavailable' } }
    }
  },
}
