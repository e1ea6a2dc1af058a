// Plugin source: a command in the plugin folder that speaks JSON-RPC (connection.ts, docs/sources.md).
import { Invalid } from '../../base/errors.ts'
import type {
  BookHit,
  FetchedBook,
  FetchedSeries,
  ReleasePage,
  SeriesHit,
  Source,
  SourceDescription,
} from '../contract.ts'
import type { SourceType } from '../source-type.ts'
import { commandOf } from './folder.ts'
import { PluginConfig } from './plugins.ts'

const maxSettingsBytes = 64 * 1024
const maxCredentialLength = 4000

export const plugin: SourceType<PluginConfig> = {
  Config: PluginConfig,
  check({ config, credentials }, { plugins }) {
    if (commandOf(plugins.folder, config.plugin) === null)
      throw new Invalid('config.plugin is not an entry in the plugin folder')
    if (JSON.stringify(config.settings ?? {}).length > maxSettingsBytes)
      throw new Invalid('config.settings is too large')
    for (const [name, value] of Object.entries(credentials))
      if (value.length > maxCredentialLength) throw new Invalid(`credentials.${name} is too long`)
  },
  releaseSources: () => null,
  open(row, { plugins }) {
    const call = async <T>(method: string, params: object, signal: AbortSignal) =>
      (await plugins.connect(row).call(method, params, signal)) as T
    const { capabilities = [] } = row.description ?? {}
    const source: Source = {
      describe: ({ signal }) => call<SourceDescription>('describe', {}, signal),
    }
    if (capabilities.includes('metadata')) {
      source.searchSeries = (query, { signal }) => call<SeriesHit[]>('searchSeries', query, signal)
      source.fetchSeries = (externalId, { signal }) =>
        call<FetchedSeries | null>('fetchSeries', { externalId }, signal)
    }
    if (capabilities.includes('books')) {
      source.searchBooks = (query, { signal }) => call<BookHit[]>('searchBooks', query, signal)
      source.fetchBook = (externalId, { signal }) =>
        call<FetchedBook | null>('fetchBook', { externalId }, signal)
    }
    if (capabilities.includes('releases'))
      source.listReleases = (query, { signal }) => call<ReleasePage>('listReleases', query, signal)
    return source
  },
}
