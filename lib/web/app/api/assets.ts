// Addresses of the built files: style sheets, texts, icons.

/** The build folder, which contains all scripts. */
export const assets = new URL('./', import.meta.url)

/** The address of a file by its path, such as `icons/icon.svg`. */
export const assetUrl = (path: string): string => new URL(path, assets).href
