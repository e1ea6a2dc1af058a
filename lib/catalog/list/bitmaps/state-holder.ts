// Holds the state of an index: in memory, and when no list has used it for some time in a file, until a list needs it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { poolOf } from '../../../postgres/cancellable.ts'
import { noteReleasedMemory } from '../../../released-memory.ts'
import { noteFailedReading } from '../background-failures.ts'
import type { BackgroundQueue } from '../background-queue.ts'
import { type FileStored, storeInFile } from './file-store.ts'
import { type IndexState, newState } from './index-state.ts'
import type { RowTable } from './row-kind.ts'

export type StateHolder<Table> = {
  /** Null unless it is in memory. */
  current(): IndexState<Table> | null
  replace(state: IndexState<Table> | null): void
  /** For a list: read from its file, if it is at rest. */
  use(sql: Sql): Promise<IndexState<Table> | null>
  /** In memory or at rest. */
  isRead(): boolean
  /** By no list yet. */
  isUnused(): boolean
}

type Options = {
  /** The name in logs and metrics. */
  what: string
  maxUnusedMs: number
  queue: BackgroundQueue
  /** Resolves when nothing is being read for a state beside the queue. */
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
  let waking: Promise<void> | null = null
  let uses = 0
  let timer: NodeJS.Timeout | undefined

  async function rest(pool: Sql): Promise<void> {
    const [unused, usesBefore] = [state, uses]
    if (!unused) return
    const isUnused = () => uses === usesBefore && state === unused
    try {
      await idle?.()
      const stored = await storeState(pool, unused)
      if (isUnused()) resting = stored
      else await stored?.discard()
    } finally {
      if (isUnused()) {
        state = null
        noteReleasedMemory()
      }
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
      resting = null
      waking = null
    }
  }

  return {
    current: () => state,
    replace(next) {
      state = next
    },
    async use(sql) {
      const pool = poolOf(sql)
      uses++
      if (!state && resting) {
        waking ??= wake(pool, resting)
        await Promise.race([waking, sleep(maxWakeMs, undefined, { ref: false })])
      }
      clearTimeout(timer)
      timer = setTimeout(() => void queue.add(pool, () => rest(pool)), maxUnusedMs).unref()
      return state
    },
    isRead: () => state !== null || resting !== null,
    isUnused: () => uses === 0,
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
