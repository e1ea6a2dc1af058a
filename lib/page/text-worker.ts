// Tasks of a page thread for the text of PDF books.
import { store, task, withFile } from './worker-task.ts'

export const text = task<'text'>(async ({ book, index, target }) => {
  return withFile(book, async file => {
    const { readPageText } = await import('../media/format/pdf/text.ts')
    const page = await readPageText(file, book.limits, index)
    return (
      page &&
      store({ bytes: Buffer.from(JSON.stringify(page)), mediaType: 'application/json' }, target)
    )
  })
})

export const searchText = task<'searchText'>(async ({ book, ...search }, { tick }) => {
  return withFile(book, async file => {
    const { searchText } = await import('../media/format/pdf/text.ts')
    return searchText(file, book.limits, { ...search, tick })
  })
})

export const outline = task<'outline'>(async book => {
  return withFile(book, async file => {
    const { readOutline } = await import('../media/format/pdf/outline.ts')
    return { entries: await readOutline(file, book.limits) }
  })
})
