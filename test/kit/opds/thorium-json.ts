// OPDS 2.0 parser of Thorium.
import { createRequire } from 'node:module'

// Resolved from Thorium's package: these are its dependencies, not this project's.
const thorium = createRequire(createRequire(import.meta.url).resolve('r2-opds-js/package.json'))
const opds = './dist/es8-es2017/src/opds'
const { TaJsonDeserialize } = thorium('r2-lcp-js/dist/es8-es2017/src/serializable')
const { OPDSFeed } = thorium(`${opds}/opds2/opds2`)
const { OPDSPublication } = thorium(`${opds}/opds2/opds2-publication`)
const { OPDSAuthenticationDoc } = thorium(`${opds}/opds2/opds2-authentication-doc`)
thorium(`${opds}/init-globals`).initGlobalConverters_OPDS()
thorium('r2-shared-js/dist/es8-es2017/src/init-globals').initGlobalConverters_GENERIC()

type Link = {
  Href: string
  TypeLink?: string
  Title?: string
  Rel?: string[]
  Templated?: boolean
  Properties?: { NumberOfItems?: number; AdditionalJSON?: Record<string, unknown> }
}
type Contributor = { Name: string; SortAs?: string; Position?: number; Links?: Link[] }
type ParsedMetadata = { Title: string; Modified?: Date; NumberOfItems?: number }

export type ParsedPublication = {
  Metadata: ParsedMetadata & {
    Identifier: string
    Direction?: string
    Language?: string[]
    Description?: string
    NumberOfPages?: number
    PublicationDate?: Date
    Author?: Contributor[]
    Penciler?: Contributor[]
    Publisher?: Contributor[]
    Subject?: { Name: string }[]
    BelongsTo?: { Series?: Contributor[] }
  }
  Links: Link[]
  Images: Link[]
}
export type ParsedFeed = {
  Metadata: ParsedMetadata & { ItemsPerPage?: number; CurrentPage?: number }
  Links: Link[]
  Navigation?: Link[]
  Publications?: ParsedPublication[]
  Facets?: { Metadata: ParsedMetadata; Links: Link[] }[]
  Groups?: {
    Metadata: ParsedMetadata
    Links: Link[]
    Publications?: ParsedPublication[]
    Navigation?: Link[]
  }[]
}
export type ParsedAuthentication = {
  Id: string
  Title: string
  Description?: string
  Links: Link[]
  Authentication: { Type: string; Labels: { Login: string; Password: string } }[]
}

export const parsedFeed = (json: unknown): ParsedFeed => TaJsonDeserialize(json, OPDSFeed)
export const parsedPublication = (json: unknown): ParsedPublication =>
  TaJsonDeserialize(json, OPDSPublication)
/** An authentication document (Authentication for OPDS). */
export const parsedAuthentication = (json: unknown): ParsedAuthentication =>
  TaJsonDeserialize(json, OPDSAuthenticationDoc)
