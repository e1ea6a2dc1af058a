// Actions on a collection or read list: continue reading, edit, cover, export, delete.
import { api, type Schemas } from '../../api/client.ts'
import { can } from '../../api/session.ts'
import { navigate } from '../../routing/router.ts'
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.tsx'
import { useConfirm } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Menu, MenuButton } from '../../ui/menu.tsx'
import { showNotice } from '../../ui/toast.tsx'
import { chooseCover, openOrganizer } from '../actions.ts'
import { saveFile } from '../download.ts'
import { deleteGrouping, type Grouping, type Kind, kinds, listMembers } from './kind.ts'

type GroupingActionsProps = { kind: Kind; grouping: Grouping; count: number; reload: () => void }

export function GroupingActions({ kind, grouping, count, reload }: GroupingActionsProps) {
  const { id, name } = grouping
  const { write, remove } = kinds[kind]
  const { ask, dialog } = useConfirm({
    title: t(`groupings.deleteTitle.${kind}`, { name }),
    text: t(`groupings.deleteText.${kind}`),
    action: t('action.delete'),
    async onConfirm() {
      await deleteGrouping({ kind, id })
      navigate(kind, { replace: true })
      showNotice(t('groupings.deleted', { name }))
    },
  })
  const edit = () =>
    openOrganizer(async () => (await import('./grouping-dialog.tsx')).GroupingDialog, {
      kind,
      grouping,
      onSaved: reload,
    })
  const chooseNext = () => chooseCover({ owner: kind, id, title: name, onSaved: reload })
  const isReadList = kind === 'readlists'
  const hasMenu = can(write) || can(remove) || isReadList
  return (
    <>
      {isReadList && count > 0 && (
        <Button icon="play" variant="primary" onClick={() => readOn(id)}>
          {t('action.continueHere')}
        </Button>
      )}
      {can(write) && <Button icon="edit" text={t('action.edit')} onClick={edit} />}
      {hasMenu && (
        <Menu label={t('action.more')} trigger={<Icon name="more" />}>
          {can(write) && <MenuButton icon="grid" text={t('covers.title')} onClick={chooseNext} />}
          {isReadList && (
            <MenuButton
              icon="download"
              text={t('cbl.export')}
              onClick={() => exportCbl(grouping)}
            />
          )}
          {can(remove) && (
            <MenuButton icon="delete" isDanger text={t('action.delete')} onClick={ask} />
          )}
        </Menu>
      )}
      {dialog}
    </>
  )
}

/** Opens the first unread book. */
async function readOn(id: string) {
  const pageSize = 500
  let first: string | null = null
  for (let page = 1; ; page++) {
    const { data, total } = await listMembers({ kind: 'readlists', id }, { page, pageSize })
    const books = data as Schemas['Book'][]
    first ??= books[0]?.id ?? null
    const next = books.find(({ readProgress }) => !readProgress?.completed)
    if (next) return navigate(`books/${next.id}/read?readlist=${id}`)
    if (page * pageSize >= total) break
  }
  showNotice(t('groupings.allRead'))
  if (first) navigate(`books/${first}/read?readlist=${id}`)
}

async function exportCbl({ id, name }: Grouping) {
  const { data } = await api.GET('/api/v1/readlists/{id}/cbl', {
    params: { path: { id } },
    parseAs: 'blob',
  })
  saveFile(data as Blob, `${name}.cbl`)
}
