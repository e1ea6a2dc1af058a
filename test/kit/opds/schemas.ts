// JSON Schema validation of OPDS 2.0 feeds, authentication documents and Readium manifests against the
// published schemas, where these are there.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { leaveOut, sharedPath } from '../shared.ts'

const bundle = sharedPath('opds-schemas')
const folders = ['opds-specs/', 'opds-drafts/', 'webpub-manifest/schema/']
const schemaIds = {
  feed: 'https://specs.opds.io/schema/feed.schema.json',
  publication: 'https://specs.opds.io/schema/publication.schema.json',
  authentication: 'https://drafts.opds.io/schema/authentication.schema.json',
  manifest: 'https://readium.org/webpub-manifest/schema/publication.schema.json',
}

let ajv: Ajv | null = null

function loadSchemas(folder: string): Ajv {
  const loaded = new Ajv({ strict: false, allErrors: true })
  ;(addFormats as unknown as (ajv: Ajv) => void)(loaded)
  for (const path of folders.map(name => join(folder, name)))
    for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' }))
      if (name.endsWith('.schema.json'))
        loaded.addSchema(JSON.parse(readFileSync(join(path, name), 'utf8')))
  return loaded
}

/** Validation errors of a document, one line each; empty (and counted as left out) without the schemas. */
export function schemaErrors(kind: keyof typeof schemaIds, json: unknown): string[] {
  if (bundle === null) {
    leaveOut('opds-schemas')
    return []
  }
  ajv ??= loadSchemas(bundle)
  const validate = ajv.getSchema(schemaIds[kind])!
  if (validate(json)) return []
  return (validate.errors ?? []).map(
    error => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`,
  )
}
