// Folder watch: starts the watch thread with the first folder and passes its messages to listeners.
import { Worker } from 'node:worker_threads'
import type { WatchMessage, WatchRequest } from './watch-thread.ts'

export type ChangeListener = {
  /** Paths relative to the root, as latin1 strings; `mayBeIncomplete` when the kernel may have dropped events. */
  onChanged(paths: string[], mayBeIncomplete: boolean): void
  /** The watch ended, with an errno name or `thread`. */
  onFailed(code: string): void
}

/** Ends a watch. */
export type StopWatching = () => void

export type FolderWatch = ReturnType<typeof openFolderWatch>

type Tree = ChangeListener & { ready: PromiseWithResolvers<void> }

export function openFolderWatch() {
  const trees = new Map<number, Tree>()
  let thread: Worker | null = null
  let lastTreeId = 0

  function startThread() {
    const started = new Worker(new URL('./watch-thread.ts', import.meta.url))
    started.on('message', onMessage)
    // An error is followed by the exit event.
    started.on('error', () => {})
    started.on('exit', () => {
      if (thread !== started) return
      thread = null
      for (const tree of trees.keys()) onMessage({ tree, type: 'failed', code: 'thread' })
    })
    return started
  }

  function onMessage(message: WatchMessage) {
    const tree = trees.get(message.tree)
    if (!tree) return
    if (message.type === 'changed') return tree.onChanged(message.paths, message.mayBeIncomplete)
    if (message.type === 'watching') return tree.ready.resolve()
    trees.delete(message.tree)
    // Either the promise is still pending, or the listener is already in use.
    tree.ready.reject(Object.assign(new Error('Not watched'), { code: message.code }))
    tree.onFailed(message.code)
  }

  return {
    /** Resolves when all folders below `root` are watched. Rejects with an error whose `code` is an errno name. */
    async watch(root: Uint8Array, listener: ChangeListener): Promise<StopWatching> {
      thread ??= startThread()
      const id = ++lastTreeId
      const ready = Promise.withResolvers<void>()
      trees.set(id, { ...listener, ready })
      thread.postMessage({ tree: id, root } satisfies WatchRequest)
      await ready.promise
      return () => {
        if (trees.delete(id)) thread?.postMessage({ tree: id, root: null } satisfies WatchRequest)
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
