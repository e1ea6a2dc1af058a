// Novels of the picture.
import { birds, gears, leaves, squares, tides } from '../scenes/flat.ts'
import { hills, mountains, snow } from '../scenes/land.ts'
import type { Title } from './title.ts'

const novel = (
  series: string,
  author: string,
  genres: string,
  cover: Pick<Title, 'scene' | 'font' | 'weight' | 'size' | 'lines' | 'ink' | 'leading'> & {
    color: string
  },
): Title => ({
  series,
  author,
  publisher: 'Alder & Finch',
  year: 2016 + (series.length % 9),
  genres,
  summary: '',
  books: [series],
  pages: 0,
  colors: [cover.color],
  ...cover,
})

export const novels: Title[] = [
  novel('The Mapmaker of Aldermere', 'Eleanor Vance Holt', 'Historical Fiction', {
    scene: mountains,
    color: '#f3dfb8 #e9a96a #7f8f7a #2f4a4a #fff4d6',
    font: 'EB Garamond',
    weight: 'normal',
    size: 74,
    lines: ['The', 'Mapmaker', 'of Aldermere'],
    ink: '#2f3a38',
    leading: 0.92,
  }),
  novel('A Field Guide to Invisible Birds', 'Marcus Tull', 'Literary Fiction', {
    scene: birds,
    color: '#f7f0e1 #efe2c8 #1f5f6b #d9653b #e8b04a',
    font: 'EB Garamond',
    weight: 'normal',
    size: 62,
    lines: ['A Field Guide', 'to Invisible', 'Birds'],
    ink: '#1f3d44',
    leading: 1,
  }),
  novel('Winter Arithmetic', 'Anneli Kask', 'Poetry', {
    scene: snow,
    color: '#0f2e4d #7fa9c9 #5f87a8 #23394d #ffd98a',
    font: 'League Spartan',
    size: 76,
    lines: ['Winter', 'Arithmetic'],
    ink: '#ffffff',
    leading: 0.95,
  }),
  novel('Small Engines', 'Priya Raman', 'Short Stories', {
    scene: squares,
    color: '#f3ead7 #f3ead7 #d64933 #1d3557 #f2b035',
    font: 'League Spartan',
    size: 98,
    lines: ['Small', 'Engines'],
    ink: '#1d3557',
    leading: 0.88,
  }),
  novel('Notes from the Orchard', 'Tobias Fenn', 'Memoir', {
    scene: leaves,
    color: '#fbf3e3 #f1dfc0 #8aa36b #3f6b4a #d9573f',
    font: 'EB Garamond',
    weight: 'normal',
    size: 76,
    lines: ['Notes from', 'the Orchard'],
    ink: '#27402f',
  }),
  novel('The Tide Tables', 'Catrin Pryce', 'Mystery', {
    scene: tides,
    color: '#f5e6ca #f5e6ca #17597a #2a8fa3 #8fd0c8',
    font: 'Roboto Slab',
    size: 82,
    lines: ['The Tide', 'Tables'],
    ink: '#123f57',
    leading: 1.05,
  }),
  novel('The Long Afternoon', 'Samuel Adeyemi', 'Literary Fiction', {
    scene: hills,
    color: '#f9d48b #ef8a5a #c9694a #6b3048 #fff1c4',
    font: 'Kaushan Script',
    size: 80,
    lines: ['The Long', 'Afternoon'],
    ink: '#5a2340',
    leading: 1,
  }),
  novel('Clockwork for Beginners', 'Hedy Lindqvist', 'Science Fiction', {
    scene: gears,
    color: '#22303c #2d4250 #d98c3f #8f5a3c #e9c46a',
    font: 'Yanone Kaffeesatz',
    size: 104,
    lines: ['CLOCKWORK', 'for beginners'],
    ink: '#f6e7c6',
    leading: 0.86,
  }),
]
