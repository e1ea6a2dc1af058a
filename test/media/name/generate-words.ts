// Series names and marker words for generated file names.

export const latin = [
  'Harbor Lights',
  'The Glass Orchard',
  'X-Agents',
  'Night & Day',
  "The Keeper's Oath",
  'Dr. Vesper',
  'Captain Nova - Origins',
  'Moth, Lamp, Wick',
  'What If...?',
  'Lady S.',
  'Tokyo 24 Hours',
  '7 Lanterns',
  '20th Century Girls',
  'Area 77',
  'Sector 2099',
  'Lantern 2049',
  "Vesper '66",
  'Empire of the 3 Moons',
  'Iron Orchard III',
  'Saint Louis IX',
  'Agent X',
  'Route 66 Revisited',
  'Team #1 Fans',
  'Re - Start',
  'A.B.C. Detectives',
  'Zwölf Türme',
  'Les Années Perdues',
  'El Niño Perdido',
  'Yumi-chan no Natsu!',
  'Level C',
  'Chapter House Tales',
  'Volumes of Blood Moon',
]
const native: Record<string, string[]> = {
  cyrillic: ['Маяки', 'Парад мотыльков', 'Железный сад'],
  greek: ['Φάροι', 'Ο Κήπος'],
  japanese: ['灯台守', '蛾の行列', 'ランプ物語'],
  chinese: ['灯塔', '飞蛾游行'],
  korean: ['나방 행렬', '등대지기'],
  thai: ['ประภาคาร', 'ขบวนผีเสื้อ'],
}

type Language = {
  names: string[]
  volume?: string[]
  chapter?: string[]
  issue?: string[]
  /** Markers after their number. */
  volumeAfter?: string[]
  chapterAfter?: string[]
}
const own = (script: string) => native[script]!
export const languages: Record<string, Language> = {
  English: {
    names: latin,
    volume: ['Vol. ', 'Vol.', 'Volume ', 'v', 'V', 'vol ', 'VOL. '],
    chapter: ['Ch. ', 'Ch.', 'Chapter ', 'c', 'ch', 'Episode ', 'Ep. ', 'CH '],
    issue: ['#', 'Issue ', 'Issue #', '# '],
  },
  French: {
    names: latin,
    volume: ['Tome ', 'T', 'T.', 'tome '],
    chapter: ['Chapitre ', 'Chap. ', 'chapitre '],
    issue: ['n° ', 'N°', 'Numéro '],
  },
  German: {
    names: latin,
    volume: ['Band ', 'Bd. ', 'Bd.'],
    chapter: ['Kapitel ', 'Kap. '],
    issue: ['Heft ', 'Nr. ', 'Ausgabe ', 'Nr.'],
    volumeAfter: ['. Band'],
  },
  Spanish: {
    names: latin,
    volume: ['Tomo ', 'Volumen '],
    chapter: ['Capítulo ', 'Cap. ', 'Capitulo '],
    issue: ['Número ', 'nº ', 'Nº'],
  },
  Italian: {
    names: latin,
    volume: ['Volume ', 'Vol. '],
    chapter: ['Capitolo ', 'Cap. '],
    issue: ['Numero ', 'N. ', 'n.'],
  },
  Portuguese: {
    names: latin,
    volume: ['Volume ', 'Tomo '],
    chapter: ['Capítulo ', 'Cap '],
    issue: ['Edição ', 'nº '],
  },
  Dutch: { names: latin, volume: ['Deel '], chapter: ['Hoofdstuk '], issue: ['Nummer ', 'nr. '] },
  Polish: {
    names: latin,
    volume: ['Tom ', 'tom '],
    chapter: ['Rozdział '],
    issue: ['Zeszyt ', 'nr '],
  },
  Hungarian: {
    names: latin,
    volumeAfter: ['. kötet'],
    chapterAfter: ['. fejezet'],
  },
  Turkish: {
    names: latin,
    volume: ['Cilt '],
    chapter: ['Bölüm '],
    volumeAfter: ['. Cilt'],
    chapterAfter: ['. Bölüm'],
  },
  Vietnamese: { names: latin, volume: ['Tập '], chapter: ['Chương '] },
  Russian: {
    names: own('cyrillic'),
    volume: ['Том ', 'том ', 'Т.'],
    chapter: ['Глава ', 'глава ', 'Гл. '],
    issue: ['Выпуск ', '№ ', '№'],
    volumeAfter: [' том'],
    chapterAfter: [' глава'],
  },
  Greek: { names: own('greek'), volume: ['Τόμος '], chapter: ['Κεφάλαιο '], issue: ['Τεύχος '] },
  Japanese: {
    names: own('japanese'),
    volume: ['Vol.', 'v'],
    volumeAfter: ['巻'],
    chapterAfter: ['話'],
  },
  Chinese: { names: own('chinese'), volumeAfter: ['卷', '册'], chapterAfter: ['话'] },
  Korean: { names: own('korean'), volumeAfter: ['권'], chapterAfter: ['화'] },
  Thai: { names: own('thai'), volume: ['เล่ม ', 'เล่มที่ '], chapter: ['ตอนที่ ', 'บทที่ '] },
}
