// A template with its result for a series of the catalog.
import { api, body } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { messageOf } from '../text/error-message.ts'
import { t } from '../text/translate.ts'
import { TextField } from '../ui/field.tsx'
import { useDebounced } from '../ui/timing.ts'

const standard = '{{metadata.title}}'

type TemplateFieldProps = { label: string; value: string; onInput: (value: string) => void }

export function TemplateField({ label, value, onInput }: TemplateFieldProps) {
  const template = useDebounced(value.trim() || standard, 400)
  const { data, error } = useResource(`template:${template}`, signal => render(template, signal))
  return (
    <TextField
      label={label}
      value={value}
      placeholder={standard}
      onInput={onInput}
      {...(data && { hint: t('matchingSettings.templateHint', data) })}
      {...(error && { error: messageOf(error) })}
    />
  )
}

/** Null in an empty catalog. */
async function render(template: string, signal: AbortSignal) {
  const query = { pageSize: 1 }
  const { data } = await body(api.GET('/api/v1/series', { params: { query }, signal }))
  const [series] = data
  if (!series) return null
  const request = { body: { template, seriesId: series.id }, signal }
  const { output } = await body(api.POST('/api/v1/templates/preview', request))
  return { title: series.title, output }
}
