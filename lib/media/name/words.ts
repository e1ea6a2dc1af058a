// Marker words of file names by language: volume, chapter, issue, part and season, before or after their number.

export type MarkerKind =
  | 'volume'
  | 'season'
  /** `Book 3`: a volume, or part of the title. */
  | 'book'
  | 'chapter'
  | 'issue'
  /** `No. 5`: often part of the series name. */
  | 'weakIssue'
  | 'part'
  /** `SP03` */
  | 'special'
  /** `Ver002`: no number of the book. */
  | 'version'

/**
 * `isShort`: a letter or an ordinary word, which is a marker only with a dot or directly before its number.
 * `isCounter`: follows its number even without a dot (`2 глава`); other words need one (`3. Band`).
 */
export type MarkerWord = { kind: MarkerKind; isShort: boolean; isCounter: boolean }

// A dot after a word means short; a plus sign, counter.
const languages: Partial<Record<MarkerKind, string>>[] = [
  // English
  {
    volume: 'volume volumes vol vols v.',
    season: 'season seasons s.',
    book: 'book books bk.',
    chapter: 'chapter chapters chap chaps chp ch c. episode episodes ep eps e.',
    issue: 'issue issues iss. prog',
    weakIssue: 'no. nos. №',
    part: 'part parts pt',
    special: 'sp.',
    version: 'ver version rev',
  },
  // French
  {
    volume: 'tome tomes t. livre intégrale integrale',
    season: 'saison',
    chapter: 'chapitre chapitres épisode épisodes',
    issue: 'numéro numéros fascicule fascicules',
    part: 'partie parties',
  },
  // German
  {
    volume: 'band bände bd bde buch gesamtausgabe sammelband',
    season: 'staffel',
    chapter: 'kapitel kap folge folgen',
    issue: 'heft hefte ausgabe nummer',
    weakIssue: 'nr',
    part: 'teil teile',
  },
  // Spanish, Italian, Portuguese, Catalan, Romanian
  {
    volume: 'tomo tomos volumen volumi volum volumul libro livro integral',
    season: 'temporada stagione sezonul',
    chapter:
      'capítulo capítulos capitulo capitulos cap caps capitolo capitoli capitolul episodio episodi episódio',
    issue: 'número números numero numeri núm num. edição edições edicao edición ed. fascicolo',
    part: 'parte partes parti partea',
  },
  // Dutch, Danish, Norwegian, Swedish, Finnish
  {
    volume: 'deel delen bind osa nide',
    season: 'seizoen sæson sesong säsong kausi',
    chapter: 'hoofdstuk kapittel luku aflevering avsnitt',
    part: 'del.',
  },
  // Polish, Czech, Slovak, Hungarian, Croatian
  {
    volume: 'tom+ tomy+ díl+ diel+ svazek+ zväzok+ kötet+ svezak knjiga',
    season: 'sezon+ évad+',
    chapter: 'rozdział+ rozdziały+ kapitola+ fejezet+ poglavlje',
    issue: 'zeszyt+ zeszyty+ numer číslo+ szám+ sešit+ broj',
    weakIssue: 'č.',
    part: 'część+ część část+ rész+',
  },
  // Russian, Ukrainian, Bulgarian
  {
    volume: 'том+ тома+ томы+ т. книга',
    season: 'сезон+',
    chapter: 'глава+ главы+ глав+ гл. г. розділ+ эпизод+ серия+',
    issue: 'выпуск+ выпуски+ вып. випуск+ номер',
    part: 'часть+ частина+ част+',
  },
  // Greek, Turkish, Vietnamese, Indonesian, Arabic
  {
    volume: 'τόμος cilt+ tập jilid المجلد مجلد',
    chapter: 'κεφάλαιο bölüm+ bolum+ chương bab الفصل فصل الحلقة',
    issue: 'τεύχος sayı+ العدد',
    part: 'kısım+ phần الجزء',
  },
  // Thai, Japanese, Korean
  {
    volume: 'เล่มที่ เล่ม 권+',
    season: 'ซีซัน ซีซั่น シーズン 시즌',
    chapter: 'ตอนที่ ตอน บทที่ บท エピソード 에피소드 화+ 회+ 장+',
    issue: 'ฉบับที่ ฉบับ 호+',
    part: '부+',
  },
]

const words = new Map<string, MarkerWord>()
for (const language of languages) {
  for (const [kind, list] of Object.entries(language)) {
    for (const entry of list.split(' ')) {
      const word = entry.replace(/[.+]$/, '')
      if (words.has(word)) continue
      words.set(word, {
        kind: kind as MarkerKind,
        isShort: entry.endsWith('.'),
        isCounter: entry.endsWith('+'),
      })
    }
  }
}

/** `word` is in lowercase. */
export function markerWord(word: string): MarkerWord | null {
  const exact = words.get(word)
  if (exact) return exact
  // Thai, kana and Hangul are written without spaces: the marker ends the word.
  if (!/^[\p{Script=Thai}\p{Script=Hangul}\p{Script=Katakana}\p{M}ー]+$/u.test(word)) return null
  for (let from = 1; from < word.length - 1; from++) {
    const end = words.get(word.slice(from))
    if (end && !end.isCounter) return end
  }
  return null
}

// `第3巻`; the second group requires 第 before the number.
const hanCounters: Record<string, { kind: MarkerKind; isOrdinal: boolean }> = {}
for (const [kind, free, ordinal] of [
  ['volume', '卷巻册冊', '集辑輯'],
  ['chapter', '话話', '章回節节'],
  ['issue', '', '号號期'],
  ['part', '', '部'],
  ['season', '', '季'],
] as const) {
  for (const char of free) hanCounters[char] = { kind, isOrdinal: false }
  for (const char of ordinal) hanCounters[char] = { kind, isOrdinal: true }
}

/** What the Han character counts; `isOrdinal`: after 第. */
export function hanCounter(char: string, isOrdinal: boolean): MarkerKind | null {
  const counter = Object.hasOwn(hanCounters, char) ? hanCounters[char]! : null
  return counter && (isOrdinal || !counter.isOrdinal) ? counter.kind : null
}
