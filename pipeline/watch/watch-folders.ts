// Folder watch: starts the watch thread with the first folder and passes its messages to listeners. Replaces
// a thread that is blocked by an unresponsive folder.
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { programFile } from '../../lib/base/package.ts'
import { mountHealth, mountKey } from '../../lib/store/mount/mount-health.ts'
import type { WatchMessage, WatchRequest } from './watch-thread.ts'

export type ChangeListener = {
  /**
   * Paths relative to the root, as latin1 strings; `mayBeIncomplete` if the kernel may have dropped events.
   */
  onChanged(paths: string[], mayBeIncomplete: boolean): void
  /** The watch ended, with an errno name, `thread`, or `hung` if the folder does not respond. */
  onFailed(code: string): void
}

/** Ends a watch. */
export type StopWatching = () => void

export type FolderWatch = ReturnType<typeof openFolderWatch>

type Tree = ChangeListener & { root: Uint8Array; ready: PromiseWithResolvers<void> }

const pongMs = 3_000
const endMs = 1_000

export function openFolderWatch() {
  const trees = new Map<number, Tree>()
  let thread: Worker | null = null
  let lastTreeId = 0
  let onPong: (() => void) | null = null

  function startThread() {
    const started = new Worker(programFile('pipeline/watch/watch-thread'))
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
    if (message.type === 'pong') return onPong?.()
    const tree = trees.get(message.tree)
    if (!tree) return
    if (message.type === 'changed') return tree.onChanged(message.paths, message.mayBeIncomplete)
    if (message.type === 'watching') return tree.ready.resolve()
    trees.delete(message.tree)
    // Either the promise is still pending, or the listener is already in use.
    tree.ready.reject(Object.assign(new Error('Not watched'), { code: message.code }))
    tree.onFailed(message.code)
  }

  /** Replaces the thread if it does not respond, and watches the other folders again. */
  async function replaceBlocked() {
    const blocked = thread
    if (blocked === null) return
    const pong = new Promise<string>(resolve => {
      onPong = () => resolve('pong')
    })
    blocked.postMessage({ ping: true } satisfies WatchRequest)
    const answer = await Promise.race([pong, sleep(pongMs, null, { ref: false })])
    if (answer !== null || thread !== blocked) return
    thread = null
    void blocked.terminate()
    for (const [id, tree] of trees) {
      if (mountHealth.isHung(mountKey(tree.root))) {
        onMessage({ tree: id, type: 'failed', code: 'hung' })
        continue
      }
      thread ??= startThread()
      thread.postMessage({ tree: id, root: tree.root } satisfies WatchRequest)
      tree.onChanged([''], true)
    }
  }

  const listening = mountHealth.listen(({ seconds }) => {
    if (seconds === null) void replaceBlocked()
  })

  return {
    /** Resolves when all folders below `root` are watched. Rejects with an error whose `code` is an errno name. */
    async watch(root: Uint8Array, listener: ChangeListener): Promise<StopWatching> {
      thread ??= startThread()
      const id = ++lastTreeId
      const ready = Promise.withResolvers<void>()
      trees.set(id, { ...listener, root, ready })
      thread.postMessage({ tree: id, root } satisfies WatchRequest)
      await ready.promise
      return () => {
        if (trees.delete(id)) thread?.postMessage({ tree: id, root: null } satisfies WatchRequest)
      }
    },
    async close() {
      listening[Symbol.dispose]()
      trees.clear()
      const ending = thread
      thread = null
      await Promise.race([ending?.terminate(), sleep(endMs, null, { ref: false })])
    },
  }
}
