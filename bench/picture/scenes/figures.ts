// Scenes with figures: balloons, carps, a castle.
import {
  background,
  between,
  circle,
  height,
  line,
  path,
  range,
  rect,
  ridge,
  type Scene,
  swell,
} from '../drawing.ts'

export const balloons: Scene = (colors, random) => {
  const { far, near, light } = colors
  const balloon = (x: number, y: number, size: number, fill: string, stripe: string) =>
    `<g transform="translate(${x} ${y}) scale(${size})">${path('M0 -100C76 -100 92 -20 56 26L20 76H-20L-56 26C-92 -20 -76 -100 0 -100', fill)}
    ${path('M0 -100C34 -90 36 10 9 76H-9C-36 10 -34 -90 0 -100', stripe)}${line('M-18 78L-13 104M18 78L13 104', '#3a2a20', 3)}${rect(-17, 102, 34, 25, '#7a4a2a', 'rx="5"')}</g>`
  const puff = (x: number, y: number, size: number) =>
    `<g transform="translate(${x} ${y}) scale(${size})" opacity="0.75">${rect(-80, 0, 160, 26, '#fff', 'rx="13"')}${rect(-40, -22, 104, 30, '#fff', 'rx="15"')}</g>`
  return `${background(colors)}${puff(90, between(random, 320, 360), 0.8)}${puff(400, between(random, 430, 480), 1)}
    ${swell(random, 600, 60, 1, far)}${balloon(between(random, 90, 120), 500, 0.62, light, near)}
    ${balloon(between(random, 240, 290), 420, 1.25, near, light)}${balloon(between(random, 395, 420), 340, 0.42, far, light)}
    ${swell(random, 660, 30, 2, near)}`
}

export const carps: Scene = (colors, random) => {
  const { far, near, light, bottom } = colors
  const carp = (x: number, y: number, size: number, turn: number, fill: string, spot: string) =>
    `<g transform="translate(${x} ${y}) rotate(${turn}) scale(${size})">${path('M-30 -48Q-92 -30 -84 8Q-52 -8 -32 -14ZM30 -48Q92 -30 84 8Q52 -8 32 -14Z', fill, 'opacity="0.85"')}
    ${path('M0 -132C34 -128 44 -84 40 -44C36 8 18 50 9 92Q44 128 46 176Q18 158 0 128Q-18 158 -46 176Q-44 128 -9 92C-18 50 -36 8 -40 -44C-44 -84 -34 -128 0 -132', fill)}
    ${path('M-38 -78Q-6 -112 28 -82Q36 -46 4 -38T-39 -34ZM-20 10Q8 -10 26 8Q18 46 2 52Q-14 40 -20 10Z', spot)}${circle(-22, -102, 5, '#221')}${circle(22, -102, 5, '#221')}</g>`
  const pad = (x: number, y: number, r: number) =>
    path(
      `M${x} ${y}L${x + r * 0.94} ${y - r * 0.34}A${r} ${r} 0 1 1 ${x + r * 0.64} ${y - r * 0.77}Z`,
      near,
    )
  const ripples = range(7).map(i =>
    circle(
      250,
      470,
      60 + i * 52,
      'none',
      `stroke="#fff" stroke-width="2.5" opacity="${0.4 - i * 0.05}"`,
    ),
  )
  return `${background(colors)}${ripples.join('')}${carp(between(random, 150, 175), 470, 1, between(random, 12, 26), '#fffaf2', far)}
    ${carp(between(random, 330, 350), 520, 0.95, between(random, 172, 196), far, light)}
    ${pad(66, 668, 62)}${pad(420, 300, 44)}${pad(176, 706, 40)}${pad(30, 330, 36)}${circle(62, 664, 20, light)}${circle(62, 664, 8, bottom)}`
}

export const castle: Scene = (colors, random) => {
  const { far, near, light } = colors
  const tower = (x: number, y: number, w: number) =>
    `${rect(x, y, w, height - y, near)}${path(`M${x - 9} ${y}L${x + w / 2} ${y - w * 1.5}L${x + w + 9} ${y}Z`, far)}
    ${line(`M${x + w / 2} ${y - w * 1.5}v-26`, near, 4)}${path(`M${x + w / 2} ${y - w * 1.5 - 28}l30 9l-30 9Z`, light)}
    ${rect(x + w / 2 - 5, y + 28, 10, 22, light, 'rx="5"')}${rect(x + w / 2 - 5, y + 82, 10, 22, light, 'rx="5"')}`
  const teeth = range(7).map(i => rect(140 + i * 30, 546, 16, 18, near))
  const thorns = range(9).map(i => {
    const x = i * 58 + between(random, -10, 10)
    return line(
      `M${x} 730q${between(random, -40, 40)} -60 ${between(random, -10, 30)} -120`,
      '#10140f',
      7,
    )
  })
  return `${background(colors)}${circle(between(random, 120, 360), 390, 100, light, 'opacity="0.9"')}<g opacity="0.55">${ridge(random, 560, 80, 6, far)}</g>
    ${tower(118, 470, 54)}${tower(306, 450, 60)}${tower(214, 400, 52)}${rect(140, 562, 210, 160, near)}${teeth.join('')}
    ${path('M222 690v-52a24 24 0 0 1 48 0v52Z', light)}${swell(random, 676, 26, 1, '#10140f')}${thorns.join('')}`
}
