// Holds the state of an index: in memory, or at rest, in a file, when no list has used it for some time.
import { setTimeout as sleep } from 'node:timers/promises'
import type { BackgroundQueue } from '../background-queue.ts'
import type { Environment } from './environment.ts'
import { type FileStored, storeInFile } from './file-store.ts'
import { type IndexState, newState } from './index-state.ts'
import type { RowTable } from './row-kind.ts'

export type StateHolder<Table> = {
  /** Null unless it is in memory. */
  current(): IndexState<Table> | null
  replace(state: IndexState<Table> | null): void
  /** Read from its file, if it is at rest. Null where that takes long. */
  use(by: 'list' | 'reading'): Promise<IndexState<Table> | null>
  /** Moves it to its file now, if no list has used it yet. */
  restIfUnused(): Promise<void>
  /** In memory or at rest. */
  isRead(): boolean
  /** No list has used it yet. */
  isUnused(): boolean
}

type Options = {
  environment: Environment
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
  environment,
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

  async function rest(usesBefore: number): Promise<void> {
    const unused = state
    const isStillUnused = () => uses === usesBefore && state === unused
    if (!unused || !isStillUnused()) return
    try {
      await idle?.()
      const stored = await storeState(environment, unused)
      if (isStillUnused()) resting = stored
      else await stored?.discard()
    } finally {
      if (isStillUnused()) state = null
    }
  }

  async function wake(stored: FileStored<IndexState<Table>>): Promise<void> {
    try {
      const loaded = await stored.load()
      state ??= loaded
    } catch (error) {
      environment.noteFailure(what, error)
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
    async use(by) {
      const usesNow = ++uses
      if (by === 'list') isUsed = true
      if (!state && resting) {
        waking ??= { done: wake(resting), until: performance.now() + maxWakeMs }
        const ms = Math.max(0, waking.until - performance.now())
        await Promise.race([waking.done, sleep(ms, undefined, { ref: false })])
      }
      if (uses !== usesNow) return state
      clearTimeout(timer)
      const restLater = () => void queue.add(() => rest(usesNow))
      timer = setTimeout(restLater, maxUnusedMs).unref()
      return state
    },
    restIfUnused: () =>
      queue.add(async () => {
        if (!isUsed) await rest(uses)
      }),
    isRead: () => state !== null || resting !== null,
    isUnused: () => !isUsed,
  }
}

/** Null without space for it. Throws errno errors. */
async function storeState<Table extends RowTable>(
  { createFile }: Environment,
  { table, orders, bitmaps }: IndexState<Table>,
): Promise<FileStored<IndexState<Table>> | null> {
  // Most recently used first.
  const caches = { orders: [...orders.entries()], bitmaps: [...bitmaps.entries()] }
  const stored = await storeInFile(createFile, { table, ...caches })
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
