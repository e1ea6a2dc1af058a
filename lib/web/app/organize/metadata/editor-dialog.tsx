// Dialog frame of the metadata editors: save, reset to the metadata of files and sources, close.

import type { ComponentChildren } from 'preact'
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, useConfirm } from '../../ui/dialog.tsx'
import { showNotice } from '../../ui/toast.tsx'
import type { Owner } from './fields.ts'

type EditorDialogProps = {
  owner: Owner
  title: string
  isChanged: boolean
  isLoaded?: boolean
  /** Returns whether it was saved. */
  onSave: () => Promise<boolean>
  onReset: () => Promise<unknown>
  /** Called after a change is saved. */
  onSaved: (() => void) | undefined
  onClose: () => void
  children: ComponentChildren
}

export function EditorDialog(props: EditorDialogProps) {
  const { owner, title, isChanged, isLoaded = true, onClose, children } = props
  const done = (text: string) => {
    showNotice(text)
    props.onSaved?.()
    onClose()
  }
  const save = async () => {
    if (!isChanged) onClose()
    else if (await props.onSave()) done(t('metadata.saved'))
  }
  const reset = async () => {
    await props.onReset()
    done(t('metadata.resetDone'))
  }
  const { ask, dialog } = useConfirm({
    title: t('metadata.resetTitle'),
    text: t(`metadata.resetText.${owner}`),
    action: t('metadata.reset'),
    onConfirm: reset,
  })
  const start = {
    key: 'reset',
    variant: 'quiet',
    class: 'dialog-action-start',
    icon: 'refresh',
    onClick: ask,
  } as const
  const actions = isLoaded && [
    <Button text={t('metadata.reset')} {...start} />,
    <Button key="save" variant="primary" text={t('action.save')} onClick={save} />,
  ]
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isUnsaved={isChanged}
      actions={actions}
      canCancel={isLoaded}
      width="wide"
      class="metadata-dialog"
    >
      {children}
      {dialog}
    </Dialog>
  )
}
