// OPDS 1.2 parsers of two reading apps: Thorium and Palace.
import { createRequire } from 'node:module'
import type { OPDSEntry, OPDSFeed } from 'opds-feed-parser'
import converters from 'r2-opds-js/dist/es8-es2017/src/opds/init-globals.js'

const here = createRequire(import.meta.url)
const { default: OPDSParser } = here('opds-feed-parser')
// Resolved from Thorium's package: these are its dependencies, not this project's.
const thorium = createRequire(here.resolve('r2-opds-js/package.json'))
const base = './dist/es8-es2017/src/opds'
const { convertOpds1ToOpds2, convertOpds1ToOpds2_EntryToPublication } = thorium(`${base}/converter`)
const { OPDS } = thorium(`${base}/opds1/opds`)
const { Entry } = thorium(`${base}/opds1/opds-entry`)
const { XML } = thorium('r2-utils-js/dist/es8-es2017/src/_utils/xml-js-mapper')
const { DOMParser } = thorium('@xmldom/xmldom')
converters.initGlobalConverters_OPDS()
converters.initGlobalConverters_GENERIC()

type Link = { Href: string; TypeLink?: string; Title?: string; Rel?: string[]; Properties?: any }
type Contributor = { Name: string }
export type ThoriumPublication = {
  Metadata: {
    Title: string
    Identifier: string
    Description?: string
    Language?: string[]
    Modified: Date
    PublicationDate?: Date
    Author?: Contributor[]
    Publisher?: Contributor[]
    Subject?: { Name: string; Code: string; Scheme: string }[]
  }
  Links: Link[]
  Images?: Link[]
}
export type ThoriumFeed = {
  Metadata: { Title: string; Modified: Date; NumberOfItems?: number; ItemsPerPage?: number }
  Links: Link[]
  Navigation?: Link[]
  Publications?: ThoriumPublication[]
  Facets?: { Metadata: { Title: string }; Links: Link[] }[]
}

/** A feed as Thorium displays it, converted to OPDS 2.0. */
export function thoriumFeed(xml: string): ThoriumFeed {
  return convertOpds1ToOpds2(XML.deserialize(domOf(xml), OPDS))
}

/** An entry document as Thorium displays it. */
export function thoriumEntry(xml: string): ThoriumPublication {
  return convertOpds1ToOpds2_EntryToPublication(XML.deserialize(domOf(xml), Entry))
}

const domOf = (xml: string) => new DOMParser().parseFromString(xml, 'application/xml')

/** A `NavigationFeed` or an `AcquisitionFeed`, which Palace decides by the content. */
export const palaceFeed = async (xml: string): Promise<OPDSFeed> =>
  (await new OPDSParser().parse(xml)) as OPDSFeed
export const palaceEntry = async (xml: string): Promise<OPDSEntry> =>
  (await new OPDSParser().parse(xml)) as OPDSEntry
