// Import of a read list from a CBL file: first a report of its entries, then the list.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../../api/client.ts'
import { messageOf } from '../../text/error-message.ts'
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Switch, TextField } from '../../ui/field.tsx'
import { FormError } from '../../ui/form.tsx'
import { Table } from '../../ui/table.tsx'
import { FileDrop } from '../file-drop.tsx'

type CblDialogProps = { onImported: (id: string) => void; onClose: () => void }
type Report = Schemas['CblReport']

const maxBytes = 1024 * 1024 * 20

export function CblDialog({ onImported, onClose }: CblDialogProps) {
  const [file, setFile] = useState<File | null>(null)
  const [report, setReport] = useState<Report | null>(null)
  const [name, setName] = useState('')
  const [alternatives, setAlternatives] = useState(true)
  const [error, setError] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const send = async (
    file: File,
    options: { dryRun: boolean; name?: string; alternatives: boolean },
  ) => {
    const form = new FormData()
    form.append('file', file)
    return await body<Report>(
      api.POST('/api/v1/readlists/import', {
        params: { query: options },
        body: form as never,
        bodySerializer: content => content as never,
      }),
    )
  }
  const examine = async (file: File, alternatives: boolean) => {
    setError(null)
    setFile(null)
    setReport(null)
    if (file.size > maxBytes) return setError(t('covers.tooLarge'))
    setBusy(true)
    try {
      const next = await send(file, { dryRun: true, alternatives })
      setFile(file)
      setReport(next)
      setName(next.name)
    } catch (error) {
      setError(messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  const create = async () => {
    const { readListId } = await send(file!, { dryRun: false, name: name.trim(), alternatives })
    onClose()
    if (readListId) onImported(readListId)
  }
  const found = report ? report.exact + (alternatives ? report.alternative : 0) : 0
  const isReady = found > 0 && name.trim() !== ''
  const actions = report && (
    <Button variant="primary" disabled={!isReady} onClick={create}>
      {t('cbl.create', { count: found })}
    </Button>
  )
  return (
    <Dialog
      title={t('cbl.import')}
      onClose={onClose}
      actions={actions}
      canCancel
      isUnsaved={report !== null}
      width="wide"
    >
      <div class="form">
        <FileDrop
          text={file ? file.name : t('cbl.drop')}
          accept=".cbl,.xml,application/xml,text/xml"
          progress={isBusy ? 1 : null}
          onFile={file => void examine(file, alternatives)}
        />
        <FormError text={error} />
        {report && (
          <TextField label={t('field.name')} value={name} maxLength={200} onInput={setName} />
        )}
        {report && report.alternative > 0 && (
          <Switch
            label={t('cbl.alternatives')}
            hint={t('cbl.alternativesHint')}
            checked={alternatives}
            onChange={setAlternatives}
          />
        )}
        {report && <ReportTable report={report} />}
      </div>
    </Dialog>
  )
}

const maxRows = 500

function ReportTable({ report }: { report: Report }) {
  const { exact, alternative, missing, entries } = report
  const sorted = [...entries].sort(
    (a, b) => Number(b.match !== 'exact') - Number(a.match !== 'exact'),
  )
  return (
    <div class="stack">
      <p role="status">
        {[
          t('cbl.exact', { count: exact }),
          alternative > 0 && t('cbl.alternative', { count: alternative }),
          missing > 0 && t('cbl.missing', { count: missing }),
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      <div class="table-scroll">
        <Table columns={['#', t('cbl.entry'), t('cbl.book')]}>
          {sorted.slice(0, maxRows).map(entry => (
            <EntryRow key={entry.position} entry={entry} />
          ))}
        </Table>
      </div>
      {sorted.length > maxRows && (
        <p class="secondary-text">{t('cbl.more', { count: sorted.length - maxRows })}</p>
      )}
    </div>
  )
}

function EntryRow({ entry }: { entry: Schemas['CblEntry'] }) {
  const { position, series, number, volume, year, match, book } = entry
  const more = [volume && `(${volume})`, year && volume !== year && String(year)]
    .filter(Boolean)
    .join(' ')
  const kind = { exact: 'success', alternative: 'accent', missing: 'danger' }[match]
  return (
    <tr>
      <td>{String(position)}</td>
      <td dir="auto">{`${series} ${number} ${more}`.trim()}</td>
      <td dir="auto">
        <span class={`badge ${kind}`}>{t(`cbl.match.${match}`)}</span>
        {book && ` ${book.seriesTitle} ${book.number ?? `– ${book.title}`}`}
      </td>
    </tr>
  )
}
