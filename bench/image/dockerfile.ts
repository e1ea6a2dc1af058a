// Reads a Dockerfile with the forms that ours has:
//   Dockerfile  = { '#' comment | KEYWORD ' ' text { ' \' newline text } }
//   text        = JSON array of strings | anything, by keyword
export type Instruction = { keyword: string; text: string }
export type Stage = { base: string; name: string; instructions: Instruction[] }

export function readDockerfile(file: string): Stage[] {
  const stages: Stage[] = []
  const lines = file.replace(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, '')
  for (const line of lines.split('\n').filter(line => line !== '')) {
    const [, keyword = '', text = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    if (keyword === '') throw new Error(`The Dockerfile has an unknown line: ${line}`)
    const [base = '', , name = ''] = text.split(' ')
    if (keyword === 'FROM') stages.push({ base, name, instructions: [] })
    else stages.at(-1)!.instructions.push({ keyword, text })
  }
  return stages
}

/** `NAME=value NAME="value"` of ENV. */
export function readVariables(text: string): Record<string, string> {
  const pairs = text.matchAll(/(\w+)=(?:"([^"]*)"|(\S*))/g)
  return Object.fromEntries([...pairs].map(([, name, quoted, plain]) => [name!, quoted ?? plain!]))
}
