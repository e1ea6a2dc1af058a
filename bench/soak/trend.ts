// Linear trends of samples that are equally far apart.

export type Trend = {
  /** From the samples that count. */
  mean: number
  /** What the line through them rises from the first to the last. */
  growth: number
  isFlat: boolean
}

/** Without the first third, in which caches fill. Flat: the line rises by no more than the share of the mean or `least`. */
export function trendOf(samples: readonly number[], share: number, least: number): Trend {
  const counted = samples.slice(Math.floor(samples.length / 3))
  const mean = counted.reduce((a, b) => a + b, 0) / counted.length
  const middle = (counted.length - 1) / 2
  const [over, under] = counted.reduce(
    ([a, b], y, x) => [a + (x - middle) * (y - mean), b + (x - middle) ** 2] as [number, number],
    [0, 0] as [number, number],
  )
  const growth = under === 0 ? 0 : (over / under) * (counted.length - 1)
  const rounded = (value: number) => Math.round(value * 10) / 10
  return {
    mean: rounded(mean),
    growth: rounded(growth),
    isFlat: growth <= Math.max(mean * share, least),
  }
}
