// A book as the subject of a match: its values by field, and how they are stored.
import type { Viewer } from '../accounts/viewer.ts'
import { lockBookRow, storeBookChanges } from '../catalog/metadata/book-metadata.ts'
import type { ExtraMetadata } from '../catalog/metadata/book-metadata-record.ts'
import { selectColumns } from '../catalog/metadata/columns.ts'
import { plainFields } from '../media/metadata/book-fields.ts'
import type { Fields } from '../media/metadata/field.ts'
import type { Transaction } from '../store/postgres/db.ts'
import type { Subject } from './subject.ts'

/** Locks its row until the transaction ends. Throws NotFound. */
export async function bookSubject(tx: Transaction, viewer: Viewer, id: string): Promise<Subject> {
  const book = await lockBookRow(tx, viewer, id)
  const [columns] = await tx<{ isbn: string | null }[]>`
    select b.isbn, ${selectColumns(tx, plainFields, 'b')} from book b where b.id = ${id}`
  const { isbn, ...others } = columns!
  return {
    ...{ kind: 'book', owner: { kind: 'book', id }, item: book },
    values: {
      ...membersOf(book.extraMetadata),
      ...others,
      ...{ authors: book.authors, genre: book.genres },
      isbns: [...(isbn === null ? [] : [isbn]), ...(book.extraMetadata.isbns ?? [])],
    },
    ...{ locks: book.locks, provenance: book.provenance },
    async store({ changes, provenance }) {
      const { changed, relabeled } = await storeBookChanges(tx, [book], {
        changesOf: () => changes,
        marksOf: () => ({ locks: book.locks, provenance }),
      })
      return { columns: changed.get(id) ?? [], events: relabeled }
    },
  }
}

/** Fields without a column. */
const membersOf = (extraMetadata: ExtraMetadata) =>
  Object.fromEntries(
    Object.entries(plainFields as Fields).flatMap(([field, { sqlType, member }]) =>
      sqlType === null ? [[field, (extraMetadata as Record<string, unknown>)[member] ?? null]] : [],
    ),
  )
