import iconv from 'iconv-lite'
import t from 'tap'
import { decodeNames, normalizeName } from '../../../lib/media/archive/entry-name.ts'

async function decode(names: readonly (Buffer | string)[], codePage = 'utf-8'): Promise<string[]> {
  const entries = names.map(name => ({
    name: (typeof name === 'string' ? iconv.encode(name, codePage) : name).toString('latin1'),
  }))
  await decodeNames(entries)
  return entries.map(({ name }) => name)
}

const pages = (name: (page: string) => string) => ['01', '02', '10'].map(name)

// Archives as systems in these languages write them.
const archives: { codePages: string[]; names: string[] }[] = [
  {
    codePages: ['cp932', 'euc-jp'],
    names: ['第01巻/表紙.jpg', '第01巻/目次.jpg', ...pages(page => `第01巻/ページ${page}.jpg`)],
  },
  { codePages: ['cp932'], names: ['第01話/表紙_01.jpg', '第01話/ソ能_02.jpg'] },
  { codePages: ['cp932'], names: ['鋼の錬金術師 01.jpg'] },
  { codePages: ['gbk'], names: ['第01卷/封面.jpg', ...pages(page => `第01卷/第${page}页.jpg`)] },
  { codePages: ['gbk'], names: pages(page => `第1话/图片_${page}.jpg`) },
  { codePages: ['big5'], names: ['第01卷/版權頁.jpg', ...pages(page => `第01卷/第${page}頁.jpg`)] },
  { codePages: ['big5'], names: ['許功蓋_10.jpg', '功_01.jpg', '功_02.jpg'] },
  { codePages: ['cp949'], names: ['제1권/표지.jpg', ...pages(page => `제1권/페이지 ${page}.jpg`)] },
  { codePages: ['cp949'], names: ['새 폴더/스캔0001.jpg'] },
  {
    codePages: ['cp1251', 'cp866', 'koi8-r'],
    names: ['Том 01/Обложка.jpg', ...pages(page => `Том 01/Страница ${page}.jpg`)],
  },
  { codePages: ['cp1251', 'cp866'], names: ['ТОМ 2/ОБЛОЖКА.JPG'] },
  {
    codePages: ['cp437', 'cp850', 'cp1252'],
    names: ['Die Größe der Ärzte/Überschrift.jpg', 'Die Größe der Ärzte/Seite 01.jpg'],
  },
  { codePages: ['cp437', 'cp850', 'cp1252'], names: ['Das große Buch/Straße.jpg'] },
  { codePages: ['cp437', 'cp850', 'cp1252'], names: ['Café.jpg'] },
  { codePages: ['cp850', 'cp1252'], names: ['Astérix à Genève/Été.jpg'] },
  { codePages: ['cp850', 'cp1252'], names: ['El niño español/Índice.jpg', 'Página 1.jpg'] },
  { codePages: ['cp850', 'cp1252'], names: ['Coleção/Não há amanhã.jpg'] },
  { codePages: ['cp850', 'cp1252'], names: ['Forår/Færøerne.jpg'] },
  { codePages: ['cp1250', 'cp852'], names: ['Żółw/Okładka.jpg', 'Żółw/Strona 01.jpg'] },
  { codePages: ['cp1250', 'cp852'], names: ['Příběh/Obálka.jpg', 'Příběh/Stránka 01.jpg'] },
  { codePages: ['cp1250', 'cp852'], names: ['Első fejezet/Borító.jpg', 'Könyv.jpg'] },
  { codePages: ['cp1254', 'cp857'], names: ['Bölüm 1/Kapağı.jpg', 'Şehir ışıkları.jpg'] },
  { codePages: ['cp1253', 'cp737'], names: ['Τόμος 1/Εξώφυλλο.jpg', 'Τόμος 1/Σελίδα 1.jpg'] },
  { codePages: ['cp1255', 'cp862'], names: ['כרך 1/כריכה.jpg', 'כרך 1/עמוד 1.jpg'] },
  { codePages: ['cp1256', 'cp720'], names: ['المجلد 1/غلاف.jpg', 'المجلد 1/صفحة 1.jpg'] },
  { codePages: ['cp874'], names: ['เล่ม 1/ปก.jpg', ...pages(page => `เล่ม 1/หน้า ${page}.jpg`)] },
  { codePages: ['cp1257', 'cp775'], names: ['Viršelis/Knygų žmogus.jpg'] },
]

t.test('the code page of names is that of their language', async t => {
  for (const { codePages, names } of archives)
    for (const codePage of codePages)
      t.same(await decode(names, codePage), names, `${codePage}: ${names[0]}`)
})

t.test('names of one archive have one code page', async t => {
  const names = ['表紙.jpg', 'ア.jpg', '力.jpg', 'p1.jpg']
  t.same(await decode(names, 'cp932'), names)
})

t.test('UTF-8 is recognized, also beside an old code page', async t => {
  t.same(await decode(['ページ1.jpg', 'Größe.jpg']), ['ページ1.jpg', 'Größe.jpg'])
  t.same(await decode([Buffer.from('Größe 1.jpg'), iconv.encode('Größe 2.jpg', 'cp437')]), [
    'Größe 1.jpg',
    'Größe 2.jpg',
  ])
  // In GBK, 页 has the bytes of a letter in UTF-8.
  t.same(await decode(['封面.jpg', '页01.jpg'], 'gbk'), ['封面.jpg', '页01.jpg'])
})

t.test('separators, NUL and lone surrogates are replaced', async t => {
  t.same(await decode(['a\\b.jpg', 'a\0b.jpg']), ['a/b.jpg', 'a\ufffdb.jpg'])
  t.equal(normalizeName('a\ud800'), 'a\ufffd')
})

t.test('long hostile names are decided quickly', async t => {
  const names = Array.from({ length: 20_000 }, (_, i) => Buffer.alloc(200, 0x81 + (i % 120)))
  const start = performance.now()
  await decode(names)
  t.ok(performance.now() - start < 5_000)
})
