// Menu of a series page: what can be done with the series.
import type { Schemas } from '../api/client.ts'
import { can } from '../api/session.ts'
import { t } from '../text/translate.ts'
import { h } from '../ui/h.ts'
import { Icon, type IconName } from '../ui/icon.ts'
import { Menu } from '../ui/menu.ts'
import { showError } from '../ui/toast.ts'
import { addTo, chooseCover, editMetadata, findMetadata } from './actions.ts'

type SeriesActionsProps = { series: Schemas['SeriesFull']; onChanged?: () => void }

/** Nothing for accounts that may do none of it. */
export function SeriesActions({ series, onChanged }: SeriesActionsProps) {
  const { id, title } = series
  const changed = onChanged && { onSaved: onChanged }
  return actionMenu([
    can('SeriesWrite') && [
      'edit',
      t('organise.editMetadata'),
      () => editMetadata({ owner: 'series', ids: [id], ...changed }),
    ],
    can('SeriesWrite') && [
      'search',
      t('organise.findMetadata'),
      () => findMetadata({ seriesId: id, title, ...changed }),
    ],
    can('SeriesWrite') && [
      'grid',
      t('covers.title'),
      () => chooseCover({ owner: 'series', id, title, ...changed }),
    ],
    can('CollectionsWrite') && [
      'collection',
      t('groupings.addTo.collections'),
      () => addTo('series', [id]),
    ],
  ])
}

type Entry = [icon: IconName, text: string, run: () => Promise<unknown>]

export function actionMenu(entries: readonly (Entry | false)[]) {
  const shown = entries.filter(entry => entry !== false)
  if (shown.length === 0) return null
  return h(
    Menu,
    { label: t('action.more'), trigger: h(Icon, { name: 'more' }) },
    shown.map(([icon, text, run]) =>
      h(
        'button',
        {
          type: 'button',
          class: 'menu-item',
          key: text,
          onClick: () => void run().catch(showError),
        },
        h(Icon, { name: icon }),
        text,
      ),
    ),
  )
}
