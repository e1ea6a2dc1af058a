// File names without their extension.
const known = /\.(?:cb[zr7ta]|zip|rar|7z|tar|epub|pdf)$/i

/** `test.vol.1.cbz` → `test.vol.1`; a name without a known extension is all stem. */
export function stemOf(name: string): string {
  return name.replace(known, '') || name
}
