import type { ContextTier, PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import type { Usage } from '#domain/pricing/usage.ts'

/** This second implementation of the bill shares no code with the product. */
export type Fraction = readonly [numerator: bigint, denominator: bigint]

const CAP = 10n ** 12n

const whole = (count: number): Fraction => [BigInt(count), 1n]
const multiply = (...factors: readonly Fraction[]): Fraction =>
  factors.reduce(([a, b], [c, d]) => [a * c, b * d], [1n, 1n])
const add = (...terms: readonly Fraction[]): Fraction =>
  terms.reduce(([a, b], [c, d]) => [a * d + c * b, b * d], [0n, 1n])

/** Reads digits with at most one decimal point, as events store prices. */
export function fractionOf(text: string): Fraction {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new Error(`no plain decimal: ${text}`)
  const [before = '', after = ''] = text.split('.')
  return [BigInt(before + after), 10n ** BigInt(after.length)]
}

/** Returns the price of the usage before rounding. */
export function exactCharge(price: PriceSnapshot, usage: Usage, calls: number): Fraction {
  const tools = Object.entries(usage.tools ?? {}).map(([name, uses]) => {
    const dollars = (price.tools as Record<string, string> | undefined)?.[name] ?? '0'
    return multiply(whole(uses), fractionOf(dollars), [500n, 1n], fractionOf(price.group))
  })
  const batch = fractionOf(price.batch ?? '1')
  const conditions = (usage.conditions ?? []).map((name) =>
    fractionOf(price.conditions?.[name] ?? '1'),
  )
  const others = multiply(exactChargeWithoutTools(price, usage, calls), batch, ...conditions)
  return add(others, ...tools)
}

/** The ratios of the input and the output for the length of the input. */
function tierRatios(tiers: readonly ContextTier[], usage: Usage): readonly [Fraction, Fraction] {
  const { inputUncached, cacheRead, cacheWrite5m, cacheWrite1h, inputImage, inputAudio } = usage
  const length = inputUncached + cacheRead + cacheWrite5m + cacheWrite1h + inputImage + inputAudio
  const reached = tiers.filter(({ above }) => above < length)
  const { input = '1', output = '1' } = reached[reached.length - 1] ?? {}
  return [fractionOf(input), fractionOf(output)]
}

function exactChargeWithoutTools(price: PriceSnapshot, usage: Usage, calls: number): Fraction {
  const group = fractionOf(price.group)
  if (price.mode === 'call') {
    const ratios = [price.imageFactor ?? '1', ...(price.factors ?? []).map(({ ratio }) => ratio)]
    const count = whole(price.per === 'second' ? usage.seconds : calls)
    const unit = multiply(fractionOf(price.price), ...ratios.map(fractionOf))
    return multiply(unit, whole(500_000), group, count)
  }
  const [K, W, I, A] = [price.cacheRead, price.cacheWrite, price.image, price.audio].map(fractionOf)
  const [C, AC] = [price.completion, price.audioCompletion].map(fractionOf)
  if (!K || !W || !I || !A || !C || !AC) throw new Error('a ratio is missing')
  const IC = price.imageCompletion === undefined ? C : fractionOf(price.imageCompletion)
  const images = usage.outputImage ?? 0
  const text = Math.max(0, usage.output - usage.outputAudio - images)
  const [inputRatio, outputRatio] = tierRatios(price.tiers ?? [], usage)
  const input = add(
    whole(usage.inputUncached),
    multiply(whole(usage.cacheRead), K),
    multiply(whole(usage.cacheWrite5m), W),
    multiply(whole(usage.cacheWrite1h), W, [8n, 5n]),
    multiply(whole(usage.inputImage), I),
    multiply(whole(usage.inputAudio), A),
  )
  const output = add(
    multiply(whole(text), C),
    multiply(whole(usage.outputAudio), A, AC),
    multiply(whole(images), IC),
  )
  const tokens = add(multiply(input, inputRatio), multiply(output, outputRatio))
  return multiply(tokens, fractionOf(price.model), group)
}

/**
 * Computes the bill independently: rounded half away from zero, at least 1 if above 0, and at most
 * 10^12.
 */
export function recomputedCharge(
  price: PriceSnapshot,
  usage: Usage,
  calls: number | undefined,
): bigint {
  const hasUsage = Object.values(usage).some((count) => Number(count) > 0)
  const [numerator, denominator] = exactCharge(price, usage, calls ?? (hasUsage ? 1 : 0))
  if (numerator === 0n) return 0n
  const remainder = numerator % denominator
  const nearest = numerator / denominator + (remainder * 2n >= denominator ? 1n : 0n)
  if (nearest < 1n) return 1n
  return nearest > CAP ? CAP : nearest
}
