// Reads an uploaded CBL file, in a thread unless it is short.
import { runInOwnThread, ThreadTimeout } from '../../base/async/own-thread.ts'
import { Invalid } from '../../base/errors.ts'
import { maxMembers } from '../grouping/members.ts'
import { type CblInput, type CblList, parseCbl } from './cbl-file.ts'

/** The longest lists have 200 bytes per entry. */
const maxBytes = 8 * 1024 * 1024
/** Takes about 15 ms without a thread, whereas starting one takes 200 ms. */
const maxInlineBytes = 128 * 1024
const threadFile = new URL('./cbl-thread.ts', import.meta.url)
const threadLimits = { maxMs: 30_000, maxMb: 512 }

/** Throws Invalid if it is not a CBL file or is too long. */
export async function readCbl(bytes: Uint8Array, signal?: AbortSignal): Promise<CblList> {
  if (bytes.length > maxBytes)
    throw new Invalid(`The reading list is larger than ${maxBytes / 1024 / 1024} MiB`, {
      reason: 'file_too_large',
    })
  const input: CblInput = { bytes, maxEntries: maxMembers }
  const list = bytes.length > maxInlineBytes ? await parseInThread(input, signal) : parseCbl(input)
  if (list === null)
    throw new Invalid('The file is not a CBL reading list', { reason: 'no_reading_list' })
  if (list.entries.length > maxMembers)
    throw new Invalid(`The reading list has more than ${maxMembers} entries`, { limit: maxMembers })
  return list
}

async function parseInThread(input: CblInput, signal?: AbortSignal): Promise<CblList | null> {
  try {
    return await runInOwnThread(threadFile, input, { ...threadLimits, signal })
  } catch (error) {
    if (error instanceof ThreadTimeout || isOutOfMemory(error))
      throw new Invalid('Reading the list takes too much time or memory', {
        cause: error,
      })
    throw error
  }
}

const isOutOfMemory = (error: unknown) =>
  (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY'
