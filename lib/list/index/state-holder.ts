// Holds the state of an index: in memory, or at rest, in a file, when no list has used it for some time.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { poolOf } from '../../store/postgres/cancellable.ts'
import { noteFailedReading } from '../background-failures.ts'
import type { BackgroundQueue } from '../background-queue.ts'
import { type FileStored, storeInFile } from './file-store.ts'
import { type IndexState, newState } from './index-state.ts'
import type { RowTable } from './row-kind.ts'

export type StateHolder<Table> = {
  /** Null unless it is in memory. */
  current(): IndexState<Table> | null
  replace(state: IndexState<Table> | null): void
  /** Read from its file, if it is at rest. Null where that takes long. */
  use(sql: Sql, by: 'list' | 'reading'): Promise<IndexState<Table> | null>
  /** Moves it to its file now, if no list has used it yet. */
  restIfUnused(sql: Sql): Promise<void>
  /** In memory or at rest. */
  isRead(): boolean
  /** No list has used it yet. */
  isUnused(): boolean
}

type Options = {
  /** The name in logs and metrics. */
  what: string
  maxUnusedMs: number
  queue: BackgroundQueue
  /** Resolves when nothing is being read in the background beside the queue. */
  idle?: (() => Promise<void>) | undefined
}

/** Lists do not wait longer for a slow disk. */
const maxWakeMs = 2_000

export function createStateHolder<Table extends RowTable>({
  what,
  maxUnusedMs,
  queue,
  idle,
}: Options): StateHolder<Table> {
  let state: IndexState<Table> | null = null
  let resting: FileStored<IndexState<Table>> | null = null
  let waking: { done: Promise<void>; until: number } | null = null
  let uses = 0
  let isUsed = false
  let timer: NodeJS.Timeout | undefined

  async function rest(pool: Sql, usesBefore: number): Promise<void> {
    const unused = state
    const isStillUnused = () => uses === usesBefore && state === unused
    if (!unused || !isStillUnused()) return
    try {
      await idle?.()
      const stored = await storeState(pool, unused)
      if (isStillUnused()) resting = stored
      else await stored?.discard()
    } finally {
      if (isStillUnused()) state = null
    }
  }

  async function wake(pool: Sql, stored: FileStored<IndexState<Table>>): Promise<void> {
    try {
      const loaded = await stored.load()
      state ??= loaded
    } catch (error) {
      noteFailedReading(pool, what, error)
    } finally {
      void stored.discard().catch(() => {})
      if (resting === stored) resting = null
      waking = null
    }
  }

  return {
    current: () => state,
    replace(next) {
      state = next
    },
    async use(sql, by) {
      const pool = poolOf(sql)
      const usesNow = ++uses
      if (by === 'list') isUsed = true
      if (!state && resting) {
        waking ??= { done: wake(pool, resting), until: performance.now() + maxWakeMs }
        const ms = Math.max(0, waking.until - performance.now())
        await Promise.race([waking.done, sleep(ms, undefined, { ref: false })])
      }
      if (uses !== usesNow) return state
      clearTimeout(timer)
      const restLater = () => void queue.add(pool, () => rest(pool, usesNow))
      timer = setTimeout(restLater, maxUnusedMs).unref()
      return state
    },
    restIfUnused(sql) {
      const pool = poolOf(sql)
      return queue.add(pool, async () => {
        if (!isUsed) await rest(pool, uses)
      })
    },
    isRead: () => state !== null || resting !== null,
    isUnused: () => !isUsed,
  }
}

/** Null without space for it. Throws errno errors. */
async function storeState<Table extends RowTable>(
  sql: Sql,
  { table, orders, bitmaps }: IndexState<Table>,
): Promise<FileStored<IndexState<Table>> | null> {
  // Most recently used first.
  const caches = { orders: [...orders.entries()], bitmaps: [...bitmaps.entries()] }
  const stored = await storeInFile(sql, { table, ...caches })
  if (!stored) return null
  return {
    async load() {
      const { table, orders, bitmaps } = await stored.load()
      const state = newState(table)
      for (const [name, order] of orders.toReversed()) state.orders.set(name, order)
      for (const [name, entry] of bitmaps.toReversed()) state.bitmaps.set(name, entry)
      return state
    },
    discard: stored.discard,
  }
}
