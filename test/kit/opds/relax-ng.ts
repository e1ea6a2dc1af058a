// Relax NG: the schema of OPDS 1.2 as libxml2 reads it.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { RelaxNGValidator, XmlDocument, XmlLibError } from 'libxml2-wasm'
import { xmlRegisterFsInputProviders } from 'libxml2-wasm/lib/nodejs.mjs'

const schema = fileURLToPath(
  new URL('../../../../shared/opds-schemas/opds-1.x-rnc/opds-1.2-patched.rng', import.meta.url),
)

let opened: RelaxNGValidator | null = null

function validator(): RelaxNGValidator {
  if (opened) return opened
  // It includes the schema of Atom, a file beside it.
  xmlRegisterFsInputProviders()
  using grammar = XmlDocument.fromBuffer(readFileSync(schema), { url: schema })
  opened = RelaxNGValidator.fromDoc(grammar)
  return opened
}

/** What is wrong with a feed or an entry of OPDS 1.2, a sentence each; empty when all is well. */
export function relaxErrors(xml: string): string[] {
  try {
    using document = XmlDocument.fromString(xml)
    validator().validate(document)
    return []
  } catch (error) {
    if (!(error instanceof XmlLibError)) throw error
    const lines = error.details.map(({ line, message }) => `line ${line}: ${message.trim()}`)
    return lines.length === 0 ? [error.message] : lines
  }
}
