// Landscapes by day: mountains, desert, forest, snow, hills.
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
  width,
} from '../drawing.ts'

export const mountains: Scene = (colors, random) => {
  const { far, near, light } = colors
  const layers = range(5).map(i => {
    const y = 380 + i * 72
    return `<g opacity="${0.35 + i * 0.16}">${ridge(random, y, 96 - i * 8, 6 + i * 2, i < 3 ? far : near)}</g>`
  })
  return `${background(colors)}${circle(between(random, 130, 350), 330, 92, light)}${layers.join('')}`
}

export const desert: Scene = (colors, random) => {
  const { far, near, light } = colors
  const mesa = (x: number, y: number, w: number) =>
    path(`M${x} ${y + 150}l18 -150h${w}l22 60h30l24 90Z`, far)
  const cactus = (x: number, y: number, size: number) =>
    `<g transform="translate(${x} ${y}) scale(${size})">${line('M0 0V-120M0 -46H-28V-84M0 -34H26V-66', near, 17)}</g>`
  const sunY = between(random, 360, 420)
  const bands = range(6).map(i => rect(0, sunY + 30 + i * 24, width, 3 + i * 2.4, colors.bottom))
  return `${background(colors)}${circle(240, sunY, 168, light)}${bands.join('')}
    ${mesa(between(random, -60, 20), 420, 110)}${mesa(between(random, 270, 340), 440, 90)}
    ${swell(random, 580, 26, 2, near)}${cactus(between(random, 70, 130), 590, 1)}${cactus(between(random, 360, 410), 600, 0.7)}`
}

export const forest: Scene = (colors, random) => {
  const { far, near, light } = colors
  const tree = (x: number, y: number, size: number, fill: string) =>
    `<g transform="translate(${x} ${y}) scale(${size})">${path('M0 -230L46 -120H24L64 -40H14V10H-14V-40H-64L-24 -120H-46Z', fill)}</g>`
  const rows = range(4).map(row => {
    const trees = range(9).map(i =>
      tree(
        i * 62 + between(random, -34, 14),
        500 + row * 70,
        between(random, 0.7, 1) + row * 0.22,
        row < 2 ? far : near,
      ),
    )
    return `<g opacity="${0.4 + row * 0.2}">${trees.join('')}</g>`
  })
  const fireflies = range(16).map(() =>
    circle(
      between(random, 20, 460),
      between(random, 420, 690),
      between(random, 2, 5),
      light,
      'opacity="0.9"',
    ),
  )
  return `${background(colors)}${circle(between(random, 150, 330), 330, 80, light, 'opacity="0.85"')}${rows.join('')}${rect(0, 640, width, 80, near)}${fireflies.join('')}`
}

export const snow: Scene = (colors, random) => {
  const { far, near, light } = colors
  const house = (x: number, y: number, fill: string) =>
    `<g transform="translate(${x} ${y})">${rect(0, 0, 60, 46, fill)}${path('M-10 2L30 -38L70 2Z', near)}${rect(22, 16, 16, 16, light)}</g>`
  const flakes = range(70).map(() =>
    circle(
      between(random, 0, width),
      between(random, 0, height),
      between(random, 1.5, 4),
      '#fff',
      'opacity="0.8"',
    ),
  )
  return `${background(colors)}${ridge(random, 470, 90, 5, far)}${swell(random, 540, 40, 1, '#ffffff')}
    ${house(250, 520, '#c8553d')}${house(140, 548, '#5b7f95')}${swell(random, 620, 30, 1, '#e8eff5')}${flakes.join('')}`
}

export const hills: Scene = (colors, random) => {
  const { far, near, light } = colors
  const rows = range(26).map(i => {
    const x = 240 + (i - 12.5) * 62
    return line(`M240 470L${x} ${height}`, light, 2.2, 'opacity="0.5"')
  })
  const birds = range(3).map(i => {
    const [x, y] = [between(random, 90, 380), between(random, 270, 340)]
    return line(`M${x} ${y}q9 -10 18 0q9 -10 18 0`, near, 3, `opacity="${0.9 - i * 0.2}"`)
  })
  return `${background(colors)}${circle(between(random, 200, 300), 430, 130, light)}
    ${swell(random, 470, 60, 1, far)}${path(`M0 500Q240 430 480 500V${height}H0Z`, near)}${rows.join('')}${birds.join('')}`
}
