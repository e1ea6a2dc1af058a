// Field for a file: dropped on it, chosen or pasted.
import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../text/translate.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'

type FileDropProps = {
  text: string
  /** As of `<input type="file">`. */
  accept: string
  /** From 0 to 1 while a file is uploaded; null otherwise. */
  progress: number | null
  onFile: (file: File) => void
}

export function FileDrop({ text, accept, progress, onFile }: FileDropProps) {
  const [isOver, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const isBusy = progress !== null
  useEffect(() => {
    const paste = ({ clipboardData }: ClipboardEvent) => {
      const [file] = clipboardData?.files ?? []
      if (file && !isBusy) onFile(file)
    }
    addEventListener('paste', paste)
    return () => removeEventListener('paste', paste)
  })
  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const [file] = event.dataTransfer?.files ?? []
    if (file && !isBusy) onFile(file)
  }
  return h(
    'label',
    {
      class: isOver ? 'file-drop over' : 'file-drop',
      onDragOver: (event: DragEvent) => {
        event.preventDefault()
        setOver(true)
      },
      onDragLeave: () => setOver(false),
      onDrop,
    },
    h('input', {
      ref: input,
      type: 'file',
      class: 'visually-hidden',
      accept,
      disabled: isBusy,
      onChange: event => {
        const [file] = event.currentTarget.files ?? []
        if (file) onFile(file)
        event.currentTarget.value = ''
      },
    }),
    h(Icon, { name: 'upload', size: 24 }),
    h('span', null, text),
    isBusy &&
      h(
        'span',
        {
          class: 'progress-bar',
          role: 'progressbar',
          'aria-label': t('covers.uploading'),
          'aria-valuenow': Math.round(progress * 100),
        },
        h('span', { style: { width: `${progress * 100}%` } }),
      ),
  )
}
