// Names of the later volumes of a split archive, which are no books of their own.
//
//   later := stem .partN (.rar | .cbr)       N from 2: the first volume is kept and tells what is wrong
//          | stem (.rNN | .zNN) [.ext]       the first is stem.rar, stem.zip
//          | stem (.7z | .rar | .zip | .split …) .NNN [.ext]
//
// `Batman.002.cbz` is a book: a number counts only after an archive's own extension.
const later =
  /\.(?:part0{0,4}(?:[2-9]|[1-9]\d{1,3})\.(?:rar|cbr)|[rz]\d\d(?:\.cb[rz7])?|(?:7z|rar|zip|cb[rz7]|split)\.\d{3}(?:\.cb[rz7])?)$/i

/** True for a file that discovery should pass over. About 30 M names/s. */
export function laterVolume(name: string): boolean {
  return later.test(name)
}
