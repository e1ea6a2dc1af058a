// A folder on a slow disk: a library for LD_PRELOAD that delays every stat and open below it, for any program.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Paths are compared as the program spells them. libuv calls statx by its number; find passes folders as descriptors.
const source = `
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static void delay(int folder, const char *path) {
  const char *slow = getenv("SLOW_FOLDER");
  char link[64], target[4096];
  if (!slow || !path) return;
  if (*path && *path != '/' && folder >= 0) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    long n = readlink(link, target, sizeof target - 1);
    if (n < 0) return;
    target[n] = 0;
    path = target;
  }
  if (!strncmp(path, slow, strlen(slow))) usleep(atoi(getenv("SLOW_MICROSECONDS")));
}
#define REAL(result, name, ...) static result (*real)(__VA_ARGS__); if (!real) real = dlsym(RTLD_NEXT, name)
#define MODE(flags) va_list a; va_start(a, flags); int mode = va_arg(a, int); va_end(a)
#define OPEN(name) int name(const char *p, int flags, ...) { \\
  REAL(int, #name, const char *, int, ...); MODE(flags); delay(-1, p); return real(p, flags, mode); }
#define OPENAT(name) int name(int d, const char *p, int flags, ...) { \\
  REAL(int, #name, int, const char *, int, ...); MODE(flags); delay(d, p); return real(d, p, flags, mode); }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)
DIR *opendir(const char *p) { REAL(DIR *, "opendir", const char *); delay(-1, p); return real(p); }
int fstatat(int d, const char *p, struct stat *s, int flags) {
  REAL(int, "fstatat", int, const char *, struct stat *, int); delay(d, p); return real(d, p, s, flags); }
long syscall(long n, ...) {
  REAL(long, "syscall", long, ...);
  long x[6]; va_list a; va_start(a, n);
  for (int i = 0; i < 6; i++) x[i] = va_arg(a, long);
  va_end(a);
  if (n == SYS_statx) delay((int)x[0], (const char *)x[1]);
  return real(n, x[0], x[1], x[2], x[3], x[4], x[5]);
}
`

/** Variables for the environment of a process for which the folder is slow. Needs gcc and glibc. */
export function slowFolder(folder: string, ms: number): Record<string, string> {
  const buildFolder = mkdtempSync(join(tmpdir(), 'slow-folder-'))
  // PostgreSQL may run as another user.
  chmodSync(buildFolder, 0o755)
  process.on('exit', () => rmSync(buildFolder, { recursive: true }))
  const code = join(buildFolder, 'slow.c')
  const library = join(buildFolder, 'slow.so')
  writeFileSync(code, source)
  execFileSync('gcc', ['-O2', '-shared', '-fPIC', '-o', library, code, '-ldl'])
  return { LD_PRELOAD: library, SLOW_FOLDER: folder, SLOW_MICROSECONDS: String(ms * 1000) }
}
