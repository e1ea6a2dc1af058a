// Addresses of the built files: style sheets, texts, icons.

/** The folder of the build, in which all of its scripts are. */
export const assets = new URL('./', import.meta.url)

/** The address of a file by its path, such as `icons/icon.svg`. */
export const assetUrl = (path: string): string => new URL(path, assets).href
