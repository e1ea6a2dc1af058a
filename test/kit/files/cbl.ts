// CBL files as ComicRack, and the collections of lists on the web, write them.

export type CblBook = {
  series: string
  number?: string
  volume?: number | string
  year?: number
  format?: string
  id?: string
  comicVine?: string
}

const escaped = (text: unknown) =>
  String(text).replace(/[&<>"]/g, char => `&#${char.codePointAt(0)};`)

export function cblFile(name: string, books: readonly CblBook[]): Buffer {
  const attribute = (key: string, value: unknown) =>
    value === undefined ? '' : ` ${key}="${escaped(value)}"`
  const entries = books.map(
    ({ series, number, volume, year, format, id, comicVine }) =>
      `    <Book${attribute('Series', series)}${attribute('Number', number)}${attribute('Volume', volume)}${attribute('Year', year)}${attribute('Format', format)}>
${comicVine ? `      <Database Name="cv" Series="1" Issue="${comicVine}" />\n` : ''}${id ? `      <Id>${id}</Id>\n` : ''}    </Book>`,
  )
  return Buffer.from(`<?xml version="1.0" encoding="utf-8"?>
<ReadingList xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <Name>${escaped(name)}</Name>
  <NumIssues>${books.length}</NumIssues>
  <Books>
${entries.join('\n')}
  </Books>
  <Matchers />
</ReadingList>`)
}
