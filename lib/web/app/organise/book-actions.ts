// Menu of a book page: what can be done with the book.
import type { Schemas } from '../api/client.ts'
import { can } from '../api/session.ts'
import { t } from '../text/translate.ts'
import { addTo, chooseCover, editMetadata } from './actions.ts'
import { actionMenu } from './series-actions.ts'

type BookActionsProps = { book: Schemas['BookFull']; onChanged?: () => void }

/** Nothing for accounts that may do none of it. */
export function BookActions({ book, onChanged }: BookActionsProps) {
  const { id, title } = book
  const changed = onChanged && { onSaved: onChanged }
  return actionMenu([
    can('BooksWrite') && [
      'edit',
      t('organise.editMetadata'),
      () => editMetadata({ owner: 'books', ids: [id], ...changed }),
    ],
    can('BooksWrite') && [
      'grid',
      t('covers.title'),
      () => chooseCover({ owner: 'books', id, title, ...changed }),
    ],
    can('ReadListsWrite') && ['list', t('groupings.addTo.readlists'), () => addTo('books', [id])],
  ])
}
