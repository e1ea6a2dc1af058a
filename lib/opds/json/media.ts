// The media types of what OPDS 2.0 leads to.

export const feedType = 'application/opds+json'
export const publicationType = 'application/opds-publication+json'
/** Authentication for OPDS 1.0. */
export const authenticationType = 'application/opds-authentication+json'
/** Readium manifests: of images one a page, and of everything else. */
export const divinaType = 'application/divina+json'
export const webpubType = 'application/webpub+json'
/** A place in a book, as Cantook and Komga write it. */
export const progressionType = 'application/vnd.readium.progression+json'
