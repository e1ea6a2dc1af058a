// Samples of long lists (routes, bodies) that a test cannot try whole: each day another part.

/** Days since 1970; `TEST_DAY` repeats the samples of a day. */
const day = Number(process.env.TEST_DAY ?? Math.floor(Date.now() / 86_400_000))

/** Filter that keeps one item in `n`; all have had their turn after `n` days. */
export const oneIn = (n: number) => (_item: unknown, i: number) => (i + day) % n === 0
