// RELAX NG validation of OPDS 1.2 feeds and entries with libxml2, where the schema is there.
import { readFileSync } from 'node:fs'
import { RelaxNGValidator, XmlDocument, XmlLibError } from 'libxml2-wasm'
import { xmlRegisterFsInputProviders } from 'libxml2-wasm/lib/nodejs.mjs'
import { leaveOut, sharedPath } from '../shared.ts'

const schema = sharedPath('opds-schemas/opds-1.x-rnc/opds-1.2-patched.rng')

let validator: RelaxNGValidator | null = null

function loadValidator(path: string): RelaxNGValidator {
  // The schema includes Atom's, a file beside it.
  xmlRegisterFsInputProviders()
  const grammar = XmlDocument.fromBuffer(readFileSync(path), { url: path })
  try {
    return RelaxNGValidator.fromDoc(grammar)
  } finally {
    grammar.dispose()
  }
}

/** Validation errors of a feed or an entry, one line each; empty (and counted as left out) without the schema. */
export function relaxErrors(xml: string): string[] {
  if (schema === null) {
    leaveOut('opds-schemas')
    return []
  }
  let document: XmlDocument | null = null
  try {
    document = XmlDocument.fromString(xml)
    validator ??= loadValidator(schema)
    validator.validate(document)
    return []
  } catch (error) {
    if (!(error instanceof XmlLibError)) throw error
    const lines = error.details.map(({ line, message }) => `line ${line}: ${message.trim()}`)
    return lines.length === 0 ? [error.message] : lines
  } finally {
    document?.dispose()
  }
}
