// A folder that hangs: a library for LD_PRELOAD under which its files cannot be opened while a file exists.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// A path is compared as the program spells it. libuv calls statx by its number.
const source = `
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static long direct(long n, const char *path) {
  static long (*call)(long, ...);
  if (!call) call = dlsym(RTLD_NEXT, "syscall");
  return call(n, AT_FDCWD, path, F_OK);
}
static void hang(const char *path) {
  const char *folder = getenv("HANGING_FOLDER");
  if (!folder || !path || strncmp(path, folder, strlen(folder))) return;
  while (direct(SYS_faccessat, getenv("HANGING_WHILE")) == 0) usleep(20000);
}
#define OPEN(name) int name(const char *path, int flags, ...) { \\
  static int (*real)(const char *, int, ...); \\
  if (!real) real = dlsym(RTLD_NEXT, #name); \\
  va_list a; va_start(a, flags); int mode = va_arg(a, int); va_end(a); \\
  hang(path); return real(path, flags, mode); }
OPEN(open) OPEN(open64)
DIR *opendir(const char *path) {
  static DIR *(*real)(const char *);
  if (!real) real = dlsym(RTLD_NEXT, "opendir");
  hang(path); return real(path);
}
long syscall(long n, ...) {
  static long (*real)(long, ...);
  if (!real) real = dlsym(RTLD_NEXT, "syscall");
  long x[6]; va_list a; va_start(a, n);
  for (int i = 0; i < 6; i++) x[i] = va_arg(a, long);
  va_end(a);
  if (n == SYS_statx) hang((const char *)x[1]);
  return real(n, x[0], x[1], x[2], x[3], x[4], x[5]);
}
`

/** Environment of a process in which `folder` can hang; null where there is no compiler for it. */
export function hangingFolder(folder: string, buildFolder: string) {
  if (process.platform !== 'linux') return null
  mkdirSync(buildFolder, { recursive: true })
  const [code, library, flag] = ['hang.c', 'hang.so', 'hangs'].map(name => join(buildFolder, name))
  writeFileSync(code!, source)
  const { status } = spawnSync('gcc', ['-O1', '-shared', '-fPIC', '-o', library!, code!, '-ldl'])
  if (status !== 0) return null
  return {
    env: { LD_PRELOAD: library!, HANGING_FOLDER: folder, HANGING_WHILE: flag! },
    hang: () => writeFileSync(flag!, ''),
    respond: () => rmSync(flag!, { force: true }),
  }
}
