// Generates the TypeScript types of the API from the OpenAPI document, for the web application and the tests.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTS, { astToString } from 'openapi-typescript'
import { resources } from '../../../lib/api/resources.ts'
import { openapiDocument } from '../../../lib/http/openapi/openapi.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'lib', 'web', 'app', 'api')
const nodes = await openapiTS(openapiDocument(resources, '0') as never, { silent: true })
writeFileSync(join(folder, 'schema.d.ts'), astToString(nodes))
