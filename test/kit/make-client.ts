// Generates TypeScript types of an API client from the OpenAPI document.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTS, { astToString } from 'openapi-typescript'
import { resources } from '../../lib/api/resources.ts'
import { openapiDocument } from '../../lib/http/openapi/openapi.ts'

const folder = join(import.meta.dirname, 'generated')
const nodes = await openapiTS(openapiDocument(resources, '0') as never, { silent: true })
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'api.ts'), `${astToString(nodes)}`)
