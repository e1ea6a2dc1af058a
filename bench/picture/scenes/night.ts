// Scenes by night: a lighthouse at sea, a city, planets, cats on roofs, clouds.
import {
  background,
  between,
  circle,
  height,
  line,
  path,
  range,
  rect,
  type Scene,
  stars,
  swell,
  width,
} from '../drawing.ts'

export const lighthouse: Scene = (colors, random) => {
  const { far, near, light } = colors
  const x = between(random, 150, 330)
  const beam = (to: number) =>
    path(
      `M${x} 352L${to} ${between(random, 200, 270)}V${between(random, 420, 480)}Z`,
      light,
      'opacity="0.28"',
    )
  const tower = `${path(`M${x - 26} 580L${x - 17} 372H${x + 17}L${x + 26} 580Z`, '#f4efe6')}
    ${rect(x - 21, 430, 42, 34, far)}${rect(x - 24, 510, 48, 34, far)}
    ${rect(x - 15, 334, 30, 36, light)}${path(`M${x - 22} 336L${x} 306L${x + 22} 336Z`, near)}${rect(x - 22, 368, 44, 7, near)}`
  const rocks = path(`M${x - 110} 640l50 -64h120l60 64Z`, near)
  return `${background(colors)}${stars(random, 60, 420, '#fff')}${beam(-20)}${beam(500)}${circle(x, 352, 42, light, 'opacity="0.35"')}
    ${tower}${rocks}${swell(random, 600, 20, 4, far)}${swell(random, 640, 20, 3, near)}${swell(random, 684, 16, 4, colors.top)}`
}

export const city: Scene = (colors, random) => {
  const { far, near, light } = colors
  const row = (base: number, fill: string, low: number, high: number, lit: number) => {
    let svg = ''
    for (let x = -10; x < width; ) {
      const w = between(random, 44, 84)
      const top = between(random, low, high)
      svg += rect(x, top, w - 3, base - top, fill)
      for (let y = top + 14; y < base - 20; y += 24)
        for (let at = x + 9; at < x + w - 16; at += 17)
          if (random.chance(lit)) svg += rect(at, y, 8, 12, light, 'opacity="0.85"')
      x += w
    }
    return svg
  }
  const rain = range(40).map(() => {
    const [x, y] = [between(random, -20, width), between(random, 0, height)]
    return line(`M${x} ${y}l-12 46`, '#fff', 1.3, 'opacity="0.22"')
  })
  const figure = `<g transform="translate(${between(random, 150, 300)} 720)">${path('M-24 0L-18 -92Q-16 -112 0 -112T18 -92L24 0Z', '#0b0b0f')}${circle(0, -124, 15, '#0b0b0f')}${path('M-27 -128H27V-133H14L11 -148H-11L-14 -133H-27Z', '#0b0b0f')}</g>`
  return `${background(colors)}${circle(between(random, 120, 360), 316, 78, light, 'opacity="0.95"')}
    ${row(720, far, 390, 480, 0.16)}${row(720, near, 470, 590, 0.3)}${rect(0, 640, width, 80, '#0b0b0f', 'opacity="0.45"')}${figure}${rain.join('')}`
}

export const planet: Scene = (colors, random) => {
  const { far, near, light } = colors
  const [x, y, r] = [
    between(random, 190, 290),
    between(random, 450, 490),
    between(random, 125, 150),
  ]
  const tilt = between(random, -28, -12)
  const ring = (side: string) =>
    `<g transform="translate(${x} ${y}) rotate(${tilt})">${path(`M${-r * 1.75} 0A${r * 1.75} ${r * 0.42} 0 0 ${side} ${r * 1.75} 0`, 'none', `stroke="${light}" stroke-width="15" opacity="0.9"`)}</g>`
  const bands = range(5).map(i =>
    rect(x - r, y - r + i * r * 0.42, r * 2, r * 0.17, near, 'opacity="0.55"'),
  )
  const moon = circle(x + r * 1.05, y - r * 1.05, 20, light)
  return `${background(colors)}${stars(random, 130, height, '#fff')}${ring('1')}
    <clipPath id="disc"><circle cx="${x}" cy="${y}" r="${r}"/></clipPath>
    ${circle(x, y, r, far)}<g clip-path="url(#disc)"><g transform="rotate(${tilt} ${x} ${y})">${bands.join('')}</g>
    ${circle(x + r * 0.55, y + r * 0.4, r * 1.15, colors.top, 'opacity="0.35"')}</g>${ring('0')}${moon}`
}

export const cats: Scene = (colors, random) => {
  const { far, near, light } = colors
  const cat = (x: number, y: number, size: number, side: number) =>
    `<g transform="translate(${x} ${y}) scale(${size * side} ${size})">${path('M-34 0Q-40 -62 -10 -84L-18 -122L2 -108H22L40 -124L36 -86Q44 -70 30 -56Q40 -20 36 0Z', near)}
    ${line('M-30 -6Q-74 -10 -66 -52T-84 -88', near, 13)}${circle(2, -88, 4, light)}${circle(23, -88, 4, light)}</g>`
  const roof = (x: number, y: number, w: number) =>
    `${path(`M${x} ${y}L${x + w / 2} ${y - 76}L${x + w} ${y}Z`, far)}${rect(x + 18, y, w - 36, 300, far, 'opacity="0.85"')}${rect(x + w / 2 - 18, y + 40, 36, 42, light, 'opacity="0.9"')}`
  const wire = line('M-10 360Q240 420 490 340', near, 3, 'opacity="0.7"')
  return `${background(colors)}${stars(random, 50, 400, '#fff')}${circle(between(random, 150, 330), 350, 118, light)}${wire}
    ${roof(-60, 600, 260)}${roof(300, 580, 250)}${roof(130, 660, 260)}
    ${cat(between(random, 60, 110), 548, 0.8, 1)}${cat(260, 596, 1.15, random.chance(0.5) ? 1 : -1)}${cat(between(random, 380, 420), 524, 0.7, -1)}`
}

export const clouds: Scene = (colors, random) => {
  const { far, near, light } = colors
  const cloud = (x: number, y: number, size: number, fill: string) =>
    `<g transform="translate(${x} ${y}) scale(${size})">${path('M-90 30a34 34 0 0 1 4 -68a48 48 0 0 1 86 -22a40 40 0 0 1 66 26a32 32 0 0 1 16 64Z', fill)}</g>`
  const plane = (x: number, y: number, size: number, turn: number) =>
    `<g transform="translate(${x} ${y}) rotate(${turn}) scale(${size})">${path('M-60 -6L70 -44L10 46L-4 12Z', '#fff')}${path('M-4 12L70 -44L-16 34Z', near, 'opacity="0.55"')}</g>`
  const below = range(6).map(i =>
    cloud(i * 96 + between(random, -20, 20), 650 + (i % 2) * 30, 1.1, '#fff'),
  )
  return `${background(colors)}${circle(between(random, 130, 350), 360, 96, light)}
    ${cloud(between(random, 50, 110), 420, 0.8, far)}${cloud(between(random, 370, 430), 420, 0.7, far)}${cloud(between(random, 300, 400), 560, 0.7, far)}
    ${line(`M-10 ${between(random, 560, 600)}Q150 600 250 470`, '#fff', 3, 'stroke-dasharray="2 12" opacity="0.9"')}
    ${plane(280, 440, 1.15, between(random, -18, 4))}${plane(between(random, 90, 150), between(random, 400, 440), 0.5, -10)}${below.join('')}`
}
