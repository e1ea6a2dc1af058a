// A route is a value: its address, what it answers, and the function that does it.
import type { TSchema } from 'typebox'
import type { Sql } from '../db.ts'

export type Route = {
  method: 'GET'
  path: string
  summary: string
  /** Response schema by status. */
  responses: Record<number, TSchema>
  handle: (context: { sql: Sql }) => Promise<{ status: number; body: unknown }>
}
