// The thread that watches folders, as the rest of a process sees it. It starts with the first folder.
import { Worker } from 'node:worker_threads'
import type { Heard, Order } from './watch-thread.ts'

export type Hearing = {
  /** Paths relative to the root, as latin1 strings; `flooded` when there may have been more. */
  changed(paths: string[], flooded: boolean): void
  /** It watches no longer, for an errno name or `thread`. */
  failed(code: string): void
}

/** Ends a watch. */
export type Stop = () => void

export type FolderWatch = ReturnType<typeof openFolderWatch>

type Listener = Hearing & { ready: PromiseWithResolvers<void> }

export function openFolderWatch() {
  const trees = new Map<number, Listener>()
  let thread: Worker | null = null
  let last = 0

  function start() {
    const started = new Worker(new URL('./watch-thread.ts', import.meta.url))
    started.on('message', hear)
    // Its end is told by the other event.
    started.on('error', () => {})
    started.on('exit', () => {
      if (thread !== started) return
      thread = null
      for (const tree of trees.keys()) hear({ tree, type: 'failed', code: 'thread' })
    })
    return started
  }

  function hear(heard: Heard) {
    const listener = trees.get(heard.tree)
    if (!listener) return
    if (heard.type === 'changed') return listener.changed(heard.paths, heard.flooded)
    if (heard.type === 'watching') return listener.ready.resolve()
    trees.delete(heard.tree)
    // Of these two one is heard: nobody waits for the promise any more, or nobody has begun.
    listener.ready.reject(Object.assign(new Error('Not watched'), { code: heard.code }))
    listener.failed(heard.code)
  }

  return {
    /**
     * Resolves when all folders below `root` are watched. Rejects with the errno name of what is
     * against it as its `code`.
     */
    async watch(root: Uint8Array, hearing: Hearing): Promise<Stop> {
      thread ??= start()
      const tree = ++last
      const ready = Promise.withResolvers<void>()
      trees.set(tree, { ...hearing, ready })
      thread.postMessage({ tree, root } satisfies Order)
      await ready.promise
      return () => {
        if (trees.delete(tree)) thread?.postMessage({ tree, root: null } satisfies Order)
      }
    },
    async close() {
      trees.clear()
      const ending = thread
      thread = null
      await ending?.terminate()
    },
  }
}
