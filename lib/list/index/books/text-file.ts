// Texts that are too long for memory in a temporary file.
import type { TemporaryFile } from '../temporary-file.ts'
import type { TextStore } from './text-column.ts'

export type TextFile = TextStore &
  Pick<TemporaryFile, 'hasSpace' | 'discard'> & {
    /** Writes what was appended. Throws errno errors. */
    flush(): Promise<void>
  }

/** Null without space. */
export async function createTextFile(
  createFile: () => Promise<TemporaryFile | null>,
): Promise<TextFile | null> {
  const file = await createFile()
  if (!file) return null
  let texts: Uint8Array[] = []
  return {
    append: text => void texts.push(text),
    async flush() {
      const bytes = Buffer.concat(texts)
      texts = []
      await file.append(bytes)
    },
    hasSpace: file.hasSpace,
    discard: file.discard,
    finish: () => file,
  }
}
