// Guesses the code page of names that declare none, from all names together: picks the reading whose letters
// are most common in one of the languages.
import iconv from 'iconv-lite'

// Enough to decide; page names are repetitive.
const maxSampleLength = 2048
const maxSampledNames = 200

export type Reading = { codePage: CodePage; language: Language }

/** The most likely code page of names stored as one character per byte. */
export function guessCodePage(names: Iterable<string>): Reading {
  const sample = sampleOf(names)
  const readings = new Map<CodePage, Text>()
  let best: Reading | null = null
  let lowest = Number.POSITIVE_INFINITY
  for (const language of languages) {
    for (const codePage of language.codePages) {
      const text = readings.get(codePage) ?? measure(decodeAs(codePage, sample))
      readings.set(codePage, text)
      const cost = costIn(language, text)
      if (cost >= lowest) continue
      best = { codePage, language }
      lowest = cost
    }
  }
  return best!
}

/** Whether a text is more plausible than another one in a language. */
export const isMoreUsual = (text: string, other: string, language: Language): boolean =>
  costIn(language, measure(text)) < costIn(language, measure(other))

function sampleOf(names: Iterable<string>): string {
  const distinct = new Set<string>()
  let length = 0
  for (const name of names) {
    if (length > maxSampleLength || distinct.size > maxSampledNames) break
    const words = name.slice(0, maxSampleLength).replace(/[0-9]+/g, '0')
    if (distinct.has(words)) continue
    distinct.add(words)
    length += words.length
  }
  return [...distinct].join('\n')
}

const decoders = new Map<CodePage, InstanceType<typeof TextDecoder>>()

/** Decodes a text stored as one character per byte. */
export function decodeAs(codePage: CodePage, text: string): string {
  const bytes = Buffer.from(text, 'latin1')
  // TextDecoder's single-byte tables differ between Node versions, and it has none for DOS.
  if (/^(cp|koi)/.test(codePage)) return iconv.decode(bytes, codePage)
  const decoder = decoders.get(codePage) ?? new TextDecoder(codePage)
  decoders.set(codePage, decoder)
  return decoder.decode(bytes)
}

// Costs are in bits: how surprising a character is. An ASCII character costs about as much as another letter,
// because a wrong reading may mistake it for the second byte of a character.
const bits = {
  ascii: 5,
  backslash: 12,
  punctuation: 10,
  unusualLetter: 16,
  symbol: 18,
  invalid: 30,
  capital: 2,
  capitalAfterSmall: 8,
  otherScript: 8,
  accentAfterAccent: 2,
  symbolBesideLetter: 4,
}

/** A text's cost in every language, and its characters whose cost differs by language. */
type Text = { characters: string[]; cost: number }

function measure(text: string): Text {
  const characters: string[] = []
  let cost = 0
  let before = traitsOf(' ')
  for (const character of text) {
    const traits = traitsOf(character)
    cost += transitionCost(before, traits)
    if (!traits.isAscii) characters.push(character)
    else cost += character === '\\' ? bits.backslash : bits.ascii
    before = traits
  }
  return { characters, cost }
}

function costIn(language: Language, { characters, cost }: Text): number {
  const letters = lettersOf(language)
  let sum = cost + language.rarity
  for (const character of characters) sum += letters.get(character) ?? costElsewhere(character)
  return sum
}

const letterCosts = new Map<Language, Map<string, number>>()

// Frequencies follow Zipf's law; alphabets are flatter. Most letters of Latin text are ASCII.
const zipf = {
  latin: { exponent: 0.7, share: 1 / 8 },
  alphabet: { exponent: 0.6, share: 1 },
  han: { exponent: 0.75, share: 3 / 4 },
}

function lettersOf(language: Language): Map<string, number> {
  const known = letterCosts.get(language)
  if (known !== undefined) return known
  const { exponent, share } = zipf[language.script]
  const letters = [...new Set(language.letters)]
  const weight = (rank: number) => (1 + rank) ** -exponent
  const total = letters.reduce((sum, _, rank) => sum + weight(rank), 0) / share
  const costs = new Map<string, number>()
  for (const [rank, letter] of letters.entries()) {
    const cost = Math.log2(total / weight(rank))
    costs.set(letter, cost)
    costs.set(letter.toUpperCase(), cost)
  }
  letterCosts.set(language, costs)
  return costs
}

// Punctuation in page names; full-width in Chinese and Japanese.
const punctuation =
  /[“”„‘’‚–—…«»·×№°´¡¿、。「」『』【】（）！？～・〜：＆＋\u3000０-９Ａ-Ｚａ-ｚ々〇]/u
const invalid = /[\ufffd\p{Cc}\p{Co}\p{Cn}]/u
const letter = /[\p{L}\p{M}]/u

function costElsewhere(character: string): number {
  if (punctuation.test(character)) return bits.punctuation
  if (letter.test(character)) return bits.unusualLetter
  return invalid.test(character) ? bits.invalid : bits.symbol
}

type Traits = {
  isAscii: boolean
  isLetter: boolean
  isLatin: boolean
  isCapital: boolean
  isSmall: boolean
}

const traitsOf = (character: string): Traits => ({
  isAscii: character <= '\x7f',
  isLetter: letter.test(character),
  isLatin: /\p{Script=Latin}/u.test(character),
  isCapital: /\p{Lu}/u.test(character),
  isSmall: /\p{Ll}/u.test(character),
})

function transitionCost(before: Traits, traits: Traits): number {
  if (before.isLetter !== traits.isLetter) {
    const isSymbol = (one: Traits) => !one.isLetter && !one.isAscii
    return isSymbol(before) || isSymbol(traits) ? bits.symbolBesideLetter : capitalCost(traits)
  }
  if (!traits.isLetter) return 0
  if (before.isLatin !== traits.isLatin) return bits.otherScript
  if (before.isSmall && traits.isCapital) return bits.capitalAfterSmall
  const isAccent = (one: Traits) => one.isLatin && !one.isAscii
  return isAccent(before) && isAccent(traits) ? bits.accentAfterAccent : 0
}

const capitalCost = ({ isCapital, isAscii }: Traits) => (isCapital && !isAscii ? bits.capital : 0)

// Languages: their non-ASCII letters, most frequent first, and the code pages that systems in these languages use. Frequencies
// come from ordinary text, after the words that name pages and volumes.

type Language = {
  script: 'latin' | 'alphabet' | 'han'
  letters: string
  codePages: readonly CodePage[]
  /** How rare archives in this language are, in bits. */
  rarity: number
}

/** Names for `TextDecoder` if two-byte, otherwise for iconv-lite. */
type CodePage = 'shift_jis' | 'euc-jp' | 'gbk' | 'big5' | 'euc-kr' | `cp${number}` | 'koi8-r'

const western = ['cp437', 'cp850', 'cp1252'] as const
const central = ['cp852', 'cp1250'] as const
const baltic = ['cp775', 'cp1257'] as const

const ofScript =
  (script: Language['script']) =>
  (letters: string, codePages: readonly CodePage[], rarity = 0): Language => ({
    script,
    letters,
    codePages,
    rarity,
  })
const latin = ofScript('latin')
const alphabet = ofScript('alphabet')
const han = ofScript('han')

const japanese =
  'のーンにイをスはルたトしリてアでラとがクなるシドレいコカジタれロフマキさプムかっオメすサりバネまパウらデエグも' +
  'ダボチんュテッョブニこャハィケくナミくァソヒモツあワヤけベよせェどビセゴヨきズヴそうみだ第話巻表紙目次章頁奥付' +
  '扉裏口絵編集版画上下中前後日一人大年本会国出十二生長三同時事自行社見月分連五発間対部東者地合方四定今回新場金員' +
  '九入選立開手力学問高代明実関決子動京全戦経通外最言現理体化田当八六主題意法不来作性的要用制度強気小七成期公野' +
  '取都和機平加山思家世受区領多続進正安設保数記院女初北指権心界結百点教報書原先共得解名川向際勝面文元重近千考' +
  '認海参利組知道信在件別物引使求所水半品死係感特情示変打男基私各始島直両朝式村提運終果西台広必応演電住争談能無' +
  '再位置真流格有口過放常校工語空土止送可役木聞身切転食車夫断何南石足消神番術展神備配独宮席楽起万着店残想線病武' +
  '声質念待族象銀例早張限追葉義形景落好造英被頭技医去姿味失移差個門写評末守若極種美影命福量望松非撃核観白深字夜' +
  '音様識呼達雪花愛恋姫魔剣鬼星風空龍竜狼猫犬鋼錬術師伝説'
const simplified =
  '第话卷页章集册回图片封面底目录漫画版权后记番外连载单行本彩扉特典的一是不了在人有我他这个们中来上大为和国地到以说' +
  '时要就出会可也你对生能而子那得于着下自之年过发作里用道行所然家种事成方多经么去法学如都同现当没动起看定天分还进好' +
  '小部其些主样理心她前开但因只从想实日军者意无力它与长把机十民公此已工使情明性知全三又关点正业将两高间由问很最重并' +
  '物手应战向头文体政美相见被利什二等产或新己制身果加西斯月合特代内信表化老给世位次度门任常先海通教儿原东声提立及比' +
  '员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受太量再感建务做接必场件计管期市直德' +
  '资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且思王象完设式色路品住告类求据程' +
  '北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运龙剑侠魔鬼猫犬花雪星风云火爱恋六七八九百千春夏秋冬'
const traditional =
  '第話卷頁章集冊回圖片封面底目錄漫畫版權後記番外連載單行本彩扉特典的一是不了在人有我他這個們中來上大為和國地到以說' +
  '時要就出會可也你對生能而子那得於著下自之年過發作裡用道行所然家種事成方多經麼去法學如都同現當沒動起看定天分還進好' +
  '小部其些主樣理心她前開但因只從想實日軍者意無力它與長把機十民公此已工使情明性知全三又關點正業將兩高間由問很最重並' +
  '物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月合特代內信表化老給世位次度門任常先海通教兒原東聲提立及比' +
  '員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受太量再感建務做接必場件計管期市直德' +
  '資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且思王象完設式色路品住告類求據程' +
  '北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運龍劍俠魔鬼貓犬花雪星風雲火愛戀六七八九百千春夏秋冬功蓋'
const korean =
  '제화권장편표지페이그림만목차속전후외책부록컬러스니다가는에습수을하식를용트의형로있사합없리할기일서어인은정시되파드자모' +
  '성요내한고나야함보아변으확라대된오엘프선먼언세름문개상해조래입경져적거듬환도여반터또클비추포유중우매필위명설출호션참크소' +
  '르버구생값뷰바었메옵본동역든과체코당처데낸빗접마타됩치디열와주공멤미별젝루근텍므석될신력무능허때색원럴복진배류현임저면' +
  '건랜턴액았까결효연노카올예것분음패단테작티점못들알집겠검며게랑츠누너잘링토통달쪽실콘준닌존피얻간법절강충국안같순약베' +
  '케활특직감투월각범년폴계팅업캐란탄왕종벨날발워숫뒤살린번좋질불웨검마법사랑용귀신소녀왕자학교여름겨울봄가을밤꿈별하늘땅물불'
const russian = 'оетианслрвмпкдуяьызбйжчгэфюхцщшъё'
const ukrainian = 'анксроіьиелтйвдумбгпязфцхшчєїжюґщ'
const bulgarian = 'аикнсроелтвдумбгйяпзфжъхшцючщь'

/** The first of equally likely languages wins. */
const languages: readonly Language[] = [
  han(japanese, ['shift_jis', 'euc-jp']),
  han(simplified, ['gbk']),
  han(traditional, ['big5']),
  han(korean, ['euc-kr']),
  alphabet(russian, ['cp1251', 'cp866', 'koi8-r']),
  alphabet(ukrainian, ['cp1251'], 3),
  alphabet(bulgarian, ['cp1251'], 4),
  alphabet('αοιτενρσκίπμυλχόέάδηςγφήβθζύωώξϊψΐϋ', ['cp1253', 'cp737'], 6),
  alphabet('יולאתמנרהשבדטקםכסעפגןחצךזףץ', ['cp1255', 'cp862'], 1),
  alphabet('ايلونربةمسكتدجفأغزهشقإطحصعخثئءذضىّآُ', ['cp1256', 'cp720'], 6),
  alphabet('านเรอก่ลงม้ยัวีดทิสตะปบคหแ์จพชขุไใูืโผณถซธศึ็ญภฉษฟฝฐฮ๊ำ', ['cp874'], 2),
  // German, French, Spanish, Portuguese, Italian, Dutch, Swedish and Finnish, Danish and Norwegian, Icelandic.
  latin('üäßö', western),
  latin('éèêàôîœçùëïûâü', western),
  latin('óáíéñúü¿¡', western),
  latin('ãçáéíóõêâúàô', western),
  latin('èàòéùìî', western),
  latin('ëéïèöü', western),
  latin('äåöé', western),
  latin('øåæéö', western),
  latin('íúóðáæýöþé', western, 3),
  // Polish, Czech, Slovak, Hungarian, Romanian, Croatian and Slovene.
  latin('łóżęąćśńź', central, 1),
  latin('íářéýžěčšůúóďňť', central, 2),
  latin('áčýéíšóžúľňťäďôŕĺ', central, 3),
  latin('áéíóöőúüű', central, 2),
  latin('ăâîşţéșț', central, 3),
  latin('čšžćđ', central, 4),
  latin('ıüşğçöİâî', ['cp857', 'cp1254'], 3),
  // Lithuanian, Latvian, Estonian.
  latin('ėšųžįčūąę', baltic, 4),
  latin('āīēšņūžļčģķ', baltic, 4),
  latin('äõüöšž', baltic, 4),
]
