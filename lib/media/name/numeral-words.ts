// Numbers written as words: Roman, English, Chinese.

const numberWords = 'one two three four five six seven eight nine ten eleven twelve'.split(' ')

const hanDigits = '〇一二三四五六七八九'
const hanUnits: Record<string, number> = { 十: 10, 百: 100, 千: 1000 }
const hanNumeral = /^[零两兩〇一二三四五六七八九十百千]{1,9}$/u

/** Whether `char` can be part of a Chinese numeral. */
export const isHanDigit = (char: string): boolean => char.length === 1 && hanNumeral.test(char)

/** The value of `IV`, `twelve` or `十二`; null for other text. Roman numerals are uppercase. */
export function numeralWord(text: string): number | null {
  if (/^[IVXLC]{1,7}$/.test(text)) return romanValue(text)
  if (hanNumeral.test(text)) return hanValue(text)
  const spelled = numberWords.indexOf(text.toLowerCase())
  return spelled < 0 ? null : spelled + 1
}

const romanDigits: Record<string, number> = { I: 1, V: 5, X: 10, L: 50, C: 100 }

function romanValue(text: string): number | null {
  if (!/^C{0,3}(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})$/.test(text)) return null
  const values = [...text].map(letter => romanDigits[letter] ?? 0)
  return values.reduce((sum, v, i) => sum + (v < (values[i + 1] ?? 0) ? -v : v), 0)
}

// `一千零四十四` with units, `一〇四四` digit by digit.
function hanValue(text: string): number {
  let sum = 0
  let digit = 0
  for (const char of text.replaceAll('零', '〇').replace(/[两兩]/gu, '二')) {
    const unit = hanUnits[char]
    if (unit === undefined) digit = 10 * digit + hanDigits.indexOf(char)
    else {
      sum += (digit || 1) * unit
      digit = 0
    }
  }
  return sum + digit
}
