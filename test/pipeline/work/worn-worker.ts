// Thread whose memory is used up by its first item: a large item fails in it afterwards. One that is too large always does.
import { itemTask } from '../../../pipeline/work/item-task.ts'

type Result = { name: string; error: { code: string; message: string } | null }

let done = 0

export const read = itemTask(
  1,
  (_item: { name: string }) => ({
    root: '/',
    followLinks: false,
    dataDir: '/nowhere',
    linkFolders: [],
  }),
  {
    async task({ name }: { name: string }): Promise<Result> {
      const fails = name === 'too large' || (name === 'large' && done > 0)
      done += 1
      return { name, error: fails ? { code: 'memory', message: 'No memory' } : null }
    },
  },
)
