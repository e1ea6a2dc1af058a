// Holds the reader of an index in memory, or in a file when no list has used it for some time.
import { setTimeout as sleep } from 'node:timers/promises'
import { type FileStored, storeInFile } from './file-store.ts'
import { type IndexReader, openReader } from './index-reader.ts'
import type { BackgroundQueue, Environment, Segment } from './index-schema.ts'

export type ReaderHolder<S> = {
  /** Null unless it is in memory. */
  current(): IndexReader<S> | null
  replace(reader: IndexReader<S> | null): void
  /** Read from its file, if it is at rest. Null where that takes long. */
  use(by: 'list' | 'reading'): Promise<IndexReader<S> | null>
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

export function createReaderHolder<S extends Segment>({
  environment,
  what,
  maxUnusedMs,
  queue,
  idle,
}: Options): ReaderHolder<S> {
  let reader: IndexReader<S> | null = null
  let resting: FileStored<IndexReader<S>> | null = null
  let waking: { done: Promise<void>; until: number } | null = null
  let uses = 0
  let isUsed = false
  let timer: NodeJS.Timeout | undefined

  async function rest(usesBefore: number): Promise<void> {
    const unused = reader
    const isStillUnused = () => uses === usesBefore && reader === unused
    if (!unused || !isStillUnused()) return
    try {
      await idle?.()
      const stored = await storeReader(environment, unused)
      if (isStillUnused()) resting = stored
      else await stored?.discard()
    } finally {
      if (isStillUnused()) reader = null
    }
  }

  async function wake(stored: FileStored<IndexReader<S>>): Promise<void> {
    try {
      const loaded = await stored.load()
      reader ??= loaded
    } catch (error) {
      environment.noteFailure(what, error)
    } finally {
      void stored.discard().catch(() => {})
      if (resting === stored) resting = null
      waking = null
    }
  }

  return {
    current: () => reader,
    replace(next) {
      reader = next
    },
    async use(by) {
      const usesNow = ++uses
      if (by === 'list') isUsed = true
      if (!reader && resting) {
        waking ??= { done: wake(resting), until: performance.now() + maxWakeMs }
        const ms = Math.max(0, waking.until - performance.now())
        await Promise.race([waking.done, sleep(ms, undefined, { ref: false })])
      }
      if (uses !== usesNow) return reader
      clearTimeout(timer)
      const restLater = () => void queue.add(() => rest(usesNow))
      timer = setTimeout(restLater, maxUnusedMs).unref()
      return reader
    },
    restIfUnused: () =>
      queue.add(async () => {
        if (!isUsed) await rest(uses)
      }),
    isRead: () => reader !== null || resting !== null,
    isUnused: () => !isUsed,
  }
}

/** Null without space for it. Throws errno errors. */
async function storeReader<S extends Segment>(
  { createFile }: Environment,
  { segment, orders, postings }: IndexReader<S>,
): Promise<FileStored<IndexReader<S>> | null> {
  // Most recently used first.
  const caches = { orders: [...orders.entries()], postings: [...postings.entries()] }
  const stored = await storeInFile(createFile, { segment, ...caches })
  if (!stored) return null
  return {
    async load() {
      const { segment, orders, postings } = await stored.load()
      const reader = openReader(segment)
      for (const [name, order] of orders.toReversed()) reader.orders.set(name, order)
      for (const [name, entry] of postings.toReversed()) reader.postings.set(name, entry)
      return reader
    },
    discard: stored.discard,
  }
}
