// Flat patterns: rays, waves, a fox, squares, leaves, birds, tides, gears.
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
  width,
} from '../drawing.ts'

export const rays: Scene = (colors, random) => {
  const { far, near, light } = colors
  const [x, y] = [240, 440]
  const turn = between(random, 0, 15)
  const beams = range(24).map(i => {
    const [a, b] = [i * 15 + turn, i * 15 + 7.5 + turn].map(degrees => (degrees * Math.PI) / 180)
    const point = (angle: number) => `${x + 900 * Math.cos(angle)} ${y + 900 * Math.sin(angle)}`
    return path(`M${x} ${y}L${point(a!)}L${point(b!)}Z`, far)
  })
  const star = range(10)
    .map(i => {
      const r = i % 2 ? 62 : 138
      const angle = (i * Math.PI) / 5 - Math.PI / 2
      return `${i ? 'L' : 'M'}${x + r * Math.cos(angle)} ${y + r * Math.sin(angle)}`
    })
    .join('')
  const dots = range(9).flatMap(row =>
    range(14).map(i =>
      circle(i * 36 + (row % 2) * 18, 720 - row * 22, 9 - row, near, 'opacity="0.9"'),
    ),
  )
  return `${background(colors)}${beams.join('')}${circle(x, y, 168, near)}${circle(x, y, 150, light)}${path(`${star}Z`, near)}${dots.join('')}`
}

export const waves: Scene = (colors, random) => {
  const { far, near, light } = colors
  const scale = (x: number, y: number) =>
    [46, 34, 22, 10].map((r, i) => circle(x, y, r, i % 2 ? near : far)).join('')
  const rows = range(8).map(row =>
    range(7)
      .map(i => scale(i * 92 - (row % 2) * 46, 500 + row * 34))
      .join(''),
  )
  const rain = range(26).map(() => {
    const [x, y] = [between(random, 0, width), between(random, 200, 470)]
    return line(`M${x} ${y}l-7 40`, near, 2.4, 'opacity="0.45"')
  })
  return `${background(colors)}${circle(between(random, 150, 330), 400, 120, light)}${rain.join('')}${rows.join('')}`
}

export const fox: Scene = (colors, random) => {
  const { far, near, light } = colors
  const leaf = (x: number, y: number, turn: number) =>
    `<g transform="translate(${x} ${y}) rotate(${turn})">${path('M0 0Q14 -26 0 -56Q-14 -26 0 0', near, 'opacity="0.75"')}</g>`
  const leaves = range(12).map(() =>
    leaf(between(random, 10, 470), between(random, 230, 700), between(random, 0, 360)),
  )
  const face = `${path('M-112 -150L-92 -10L0 90L92 -10L112 -150L44 -92H-44Z', far)}
    ${path('M-92 -10L-60 -34L0 90Z', '#fff')}${path('M92 -10L60 -34L0 90Z', '#fff')}
    ${path('M-100 -122L-90 -62L-62 -86Z', near)}${path('M100 -122L90 -62L62 -86Z', near)}
    ${line('M-52 -22q15 -17 30 0M22 -22q15 -17 30 0', '#1b1410', 7)}${path('M-16 70H16L0 90Z', '#1b1410')}`
  return `${background(colors)}${leaves.join('')}${circle(240, 450, 178, light)}<g transform="translate(240 470)">${face}</g>`
}

export const squares: Scene = (colors, random) => {
  const { far, near, light, top } = colors
  const side = 96
  const fills = [far, near, light, '#f3ead7']
  const cells = range(4).flatMap(row =>
    range(5).map(column => {
      const [x, y] = [column * side, 336 + row * side]
      const [ground, ink] = random.shuffled(fills)
      const shape = random.pick([
        path(`M${x} ${y}h${side}a${side} ${side} 0 0 1 ${-side} ${side}Z`, ink!),
        path(`M${x} ${y + side}v${-side}a${side} ${side} 0 0 1 ${side} ${side}Z`, ink!),
        circle(x + side / 2, y + side / 2, side / 2 - 10, ink!),
        path(`M${x} ${y}h${side}v${side}Z`, ink!),
        rect(x + 24, y, 24, side, ink!) + rect(x + 72, y, 24, side, ink!),
      ])
      return rect(x, y, side + 0.5, side + 0.5, ground!) + shape
    }),
  )
  return `${background({ ...colors, bottom: top })}${cells.join('')}`
}

export const leaves: Scene = (colors, random) => {
  const { far, near, light } = colors
  const stem = (x: number, tall: number, fill: string) => {
    const pairs = range(Math.floor(tall / 46)).map(i => {
      const y = -36 - i * 46
      const size = 1 - (i * 46) / (tall * 1.6)
      const one = (side: number) =>
        `<g transform="translate(0 ${y}) scale(${side * size} ${size})">${path('M0 0Q26 -64 92 -58Q76 2 0 0', fill)}</g>`
      return one(1) + one(-1)
    })
    return `<g transform="translate(${x} 730) rotate(${between(random, -7, 7)})">${line(`M0 0V${-tall}`, fill, 5)}${pairs.join('')}${circle(0, -tall - 14, 17, light)}</g>`
  }
  const stems = [40, 440, 150, 335, 240].map((x, i) =>
    stem(
      x + between(random, -14, 14),
      between(random, 260, 330) + (i === 4 ? 90 : 0),
      i % 2 ? far : near,
    ),
  )
  return `${background(colors)}${stems.join('')}`
}

export const birds: Scene = (colors, random) => {
  const { far, near, light } = colors
  const bird = (x: number, y: number, size: number, fill: string) =>
    `<g transform="translate(${x} ${y}) scale(${size}) rotate(${between(random, -14, 14)})">${path('M0 0Q-40 -60 -110 -58Q-60 -30 -34 18Q-8 40 26 26L58 40L46 16Q60 -40 120 -62Q40 -64 0 0Z', fill)}</g>`
  const flock = range(9).map(i =>
    bird(
      80 + (i % 3) * 160 + between(random, -30, 30),
      340 + Math.floor(i / 3) * 130 + between(random, -24, 24),
      between(random, 0.4, 0.66),
      [far, near, light][(i + Math.floor(i / 3)) % 3]!,
    ),
  )
  return `${background(colors)}${flock.join('')}`
}

export const tides: Scene = (colors, random) => {
  const { far, near, light } = colors
  const phase = between(random, 0, 120)
  const bands = range(11).map(i => {
    const y = 330 + i * 38
    const d = `M-130 ${y}${range(8)
      .map(() => 'q30 -34 60 0t60 0')
      .join('')}V${height}H-130Z`
    return `<g transform="translate(${(i * 37 + phase) % 120} 0)">${path(d, [far, near, light][i % 3]!)}</g>`
  })
  return `${background(colors)}${bands.join('')}`
}

export const gears: Scene = (colors, random) => {
  const { far, near, light } = colors
  const gear = (x: number, y: number, r: number, teeth: number, fill: string) => {
    const cogs = range(teeth).map(
      i =>
        `<g transform="rotate(${(i * 360) / teeth})">${rect(-r * 0.13, -r * 1.18, r * 0.26, r * 0.4, fill)}</g>`,
    )
    return `<g transform="translate(${x} ${y}) rotate(${between(random, 0, 30)})">${cogs.join('')}${circle(0, 0, r, fill)}${circle(0, 0, r * 0.62, colors.bottom)}${circle(0, 0, r * 0.2, fill)}${rect(-r * 0.08, -r * 0.66, r * 0.16, r * 1.32, fill)}${rect(-r * 0.66, -r * 0.08, r * 1.32, r * 0.16, fill)}</g>`
  }
  return `${background(colors)}${gear(150, 470, 120, 14, far)}${gear(365, 370, 84, 11, light)}${gear(390, 610, 104, 13, near)}${gear(120, 690, 70, 10, light)}`
}
