// Shared libraries that the loader did not find: an error message with the command that installs them.

/** Packages of libraries that PostgreSQL's programs need and its npm package does not include. */
const packages: Record<string, { debian: string; fedora: string }> = {
  'libstdc++.so.6': { debian: 'libstdc++6', fedora: 'libstdc++' },
  'libgcc_s.so.1': { debian: 'libgcc-s1', fedora: 'libgcc' },
}
const loaderMessage = /(lib[^\s:/]+\.so[\d.]*): cannot open shared object file/

/** Null if `output`, from a program or its log, is not about a missing library. */
export function missingLibraryMessage(output: string): string | null {
  const [, library] = loaderMessage.exec(output) ?? []
  if (!library) return null
  const missing = `PostgreSQL cannot be started because this system lacks the library ${library}`
  const names = packages[library]
  if (!names) return missing
  return `${missing}; install it with "apt-get install ${names.debian}" (Debian, Ubuntu) or "dnf install ${names.fedora}" (Fedora)`
}
