// Dialog that shows, hides and orders the rows of the home page.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useEdited } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Switch } from '../ui/field.tsx'
import { type HomeRow, type RowName, rowsOf } from './rows.ts'

type RowsDialogProps = {
  rows: readonly HomeRow[]
  /** Null: as they are without a choice. */
  onSave: (rows: readonly HomeRow[] | null) => Promise<void>
  onClose: () => void
}

export function RowsDialog({ rows, onSave, onClose }: RowsDialogProps) {
  const [draft, setDraft] = useState<readonly HomeRow[]>(rows)
  const { isEdited } = useEdited(draft)
  const usual = rowsOf(null)
  const isUsual = JSON.stringify(draft) === JSON.stringify(usual)
  const save = async () => {
    await onSave(isUsual ? null : draft)
    onClose()
  }
  const actions = (
    <>
      <Button
        variant="quiet"
        text={t('home.usualRows')}
        disabled={isUsual}
        onClick={() => setDraft(usual)}
      />
      <Button variant="primary" text={t('action.save')} onClick={save} />
    </>
  )
  return (
    <Dialog title={t('home.rows')} onClose={onClose} isUnsaved={isEdited} actions={actions}>
      <p class="secondary-text">{t('home.rowsText')}</p>
      <RowList rows={draft} onChange={setDraft} />
    </Dialog>
  )
}

type RowListProps = { rows: readonly HomeRow[]; onChange: (rows: readonly HomeRow[]) => void }
type Side = 'Up' | 'Down'

function RowList({ rows, onChange }: RowListProps) {
  const list = useRef<HTMLOListElement>(null)
  const [moved, setMoved] = useState<{ name: RowName; side: Side } | null>(null)
  // A button that moves with its row loses the focus, and at the end of the list it is disabled.
  useLayoutEffect(() => {
    if (!moved) return
    const buttons = list.current?.querySelectorAll<HTMLButtonElement>(
      `[data-row="${moved.name}"] button`,
    )
    const [up, down] = buttons ?? []
    const [first, other] = moved.side === 'Up' ? [up, down] : [down, up]
    ;(first?.disabled ? other : first)?.focus()
  }, [moved])
  const move = (index: number, side: Side) => {
    const next = [...rows]
    const [row] = next.splice(index, 1)
    next.splice(side === 'Up' ? index - 1 : index + 1, 0, row!)
    onChange(next)
    setMoved({ name: row!.name, side })
  }
  const place = rows.findIndex(({ name }) => name === moved?.name)
  return (
    <>
      <p class="visually-hidden" aria-live="polite">
        {moved &&
          t('organize.movedTo', {
            ...{ title: t(`home.${moved.name}`), position: place + 1, count: rows.length },
          })}
      </p>
      <ol class="home-rows" ref={list}>
        {rows.map((row, index) => (
          <li key={row.name} data-row={row.name}>
            <Switch
              label={t(`home.${row.name}`)}
              checked={row.isShown}
              onChange={isShown =>
                onChange(rows.map(other => (other === row ? { ...row, isShown } : other)))
              }
            />
            {(['Up', 'Down'] as const).map(side => (
              <IconButton
                key={side}
                icon={`arrow${side}`}
                label={`${t(`organize.move${side}`)}: ${t(`home.${row.name}`)}`}
                disabled={index === (side === 'Up' ? 0 : rows.length - 1)}
                onClick={() => move(index, side)}
              />
            ))}
          </li>
        ))}
      </ol>
    </>
  )
}
