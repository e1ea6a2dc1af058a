// The published JSON schemas of OPDS 2.0, of Authentication for OPDS and of Readium manifests, and
// what of a document breaks them.
import { readdirSync, readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'

const bundle = new URL('../../../../shared/opds-schemas/', import.meta.url)
const folders = ['opds-specs/', 'opds-drafts/', 'webpub-manifest/schema/']
const documents = {
  feed: 'https://specs.opds.io/schema/feed.schema.json',
  publication: 'https://specs.opds.io/schema/publication.schema.json',
  authentication: 'https://drafts.opds.io/schema/authentication.schema.json',
  manifest: 'https://readium.org/webpub-manifest/schema/publication.schema.json',
}

const ajv = new Ajv({ strict: false, allErrors: true })
;(addFormats as unknown as (ajv: Ajv) => void)(ajv)
for (const folder of folders) {
  const names = readdirSync(new URL(folder, bundle), { recursive: true, encoding: 'utf8' })
  for (const name of names.filter(name => name.endsWith('.schema.json')))
    ajv.addSchema(JSON.parse(readFileSync(new URL(folder + name, bundle), 'utf8')))
}

/** What is wrong with a document of that kind, a line an error; empty when nothing is. */
export function schemaErrors(kind: keyof typeof documents, json: unknown): string[] {
  const check = ajv.getSchema(documents[kind])!
  if (check(json)) return []
  return (check.errors ?? []).map(e => `${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`)
}
