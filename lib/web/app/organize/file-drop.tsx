// Field for a file: dropped on it, chosen or pasted.
import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../text/translate.ts'
import { Icon } from '../ui/icon.tsx'

type FileDropProps = {
  text: string
  /** Like the `accept` attribute of `<input type="file">`. */
  accept: string
  /** Upload progress from 0 to 1; null without an upload. */
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
  return (
    <label
      class={isOver ? 'file-drop over' : 'file-drop'}
      onDragOver={(event: DragEvent) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <input
        ref={input}
        type="file"
        class="visually-hidden"
        accept={accept}
        disabled={isBusy}
        onChange={event => {
          const [file] = event.currentTarget.files ?? []
          if (file) onFile(file)
          event.currentTarget.value = ''
        }}
      />
      <Icon name="upload" size={24} />
      <span>{text}</span>
      {isBusy && (
        <span
          class="progress-bar"
          role="progressbar"
          aria-label={t('covers.uploading')}
          aria-valuenow={Math.round(progress * 100)}
        >
          <span style={{ width: `${progress * 100}%` }} />
        </span>
      )}
    </label>
  )
}
