/** How the site shows quota; from its status. */
export type MoneyRule = { quotaPerUnit: string; isCurrency: boolean }

export const DEFAULT_RULE: MoneyRule = { quotaPerUnit: '500000', isCurrency: true }

/** A wire quota (a JSON integer) as the bigint that all arithmetic uses. */
export const quotaOf = (wire: number): bigint =>
  Number.isSafeInteger(wire) ? BigInt(wire) : BigInt(Math.trunc(wire))

/**
 * Quota as the site shows it: dollars with `digits` decimals (2 unless asked otherwise) when it
 * displays in currency, else the number of units, from 10 000 on abbreviated to k, M or B. What is
 * less than the last of these decimals shows its first digit instead: it is not nothing.
 */
export function quotaText(quota: bigint, rule: MoneyRule, digits = 2): string {
  if (!rule.isCurrency) return unitText(quota)
  const magnitude = quota < 0n ? -quota : quota
  if (magnitude === 0n || scaledUp(magnitude, rule, digits) >= 1n) {
    return dollarText(quota, rule, digits)
  }
  let places = digits + 1
  while (places < DECIMALS_MAX && scaledUp(magnitude, rule, places) < 1n) places += 1
  return dollarText(quota, rule, places).replace(/0+$/, '')
}

const DECIMALS_MAX = 9

/** Dollars times ten to the `digits`, what is left of a whole cut off. */
function scaledUp(magnitude: bigint, { quotaPerUnit }: MoneyRule, digits: number): bigint {
  const { units, scale } = readDecimal(quotaPerUnit)
  return (magnitude * scale * 10n ** BigInt(digits)) / units
}

/** All the digits there are: dollars without trailing zeros beyond cents, at most 9 decimals. */
export function exactQuotaText(quota: bigint, rule: MoneyRule): string {
  if (!rule.isCurrency) return String(quota)
  return dollarText(quota, rule, DECIMALS_MAX).replace(/(\.\d\d\d*?)0+$/, '$1')
}

/** Dollars, whatever the site's display rule. Rounds half away from zero. */
export function dollarText(quota: bigint, rule: MoneyRule, digits = 2): string {
  const perUnit = readDecimal(rule.quotaPerUnit)
  const magnitude = quota < 0n ? -quota : quota
  const scaled = magnitude * perUnit.scale * 10n ** BigInt(digits)
  const rounded = (scaled * 2n + perUnit.units) / (perUnit.units * 2n)
  return `${quota < 0n && rounded > 0n ? '-' : ''}$${placePoint(rounded, digits)}`
}

/**
 * What a person typed in dollars, as quota; null when it is no amount. Fractions of a quota unit
 * are refused rather than rounded.
 */
export function quotaFromDollars(text: string, rule: MoneyRule): bigint | null {
  if (!/^\d{1,12}(\.\d{1,9})?$/.test(text.trim())) return null
  const amount = readDecimal(text.trim())
  const perUnit = readDecimal(rule.quotaPerUnit)
  const product = amount.units * perUnit.units
  const scale = amount.scale * perUnit.scale
  return product % scale === 0n ? product / scale : null
}

const STEPS: readonly { from: bigint; unit: bigint; suffix: string }[] = [
  { from: 1_000_000_000n, unit: 1_000_000_000n, suffix: 'B' },
  { from: 1_000_000n, unit: 1_000_000n, suffix: 'M' },
  { from: 10_000n, unit: 1_000n, suffix: 'k' },
]

function unitText(quota: bigint): string {
  const magnitude = quota < 0n ? -quota : quota
  const step = STEPS.find(({ from }) => magnitude >= from)
  if (step === undefined) return String(quota)
  const tenths = (magnitude * 20n + step.unit) / (step.unit * 2n)
  return `${quota < 0n ? '-' : ''}${placePoint(tenths, 1)}${step.suffix}`
}

function placePoint(units: bigint, digits: number): string {
  const text = String(units).padStart(digits + 1, '0')
  const whole = groupDigits(text.slice(0, text.length - digits))
  return digits === 0 ? whole : `${whole}.${text.slice(-digits)}`
}

/** An exact decimal with its thousands apart, as both languages write them: `12,345.5`. */
export const groupDigits = (decimal: string): string =>
  decimal.replace(/^([+-]?)(\d+)/, (_, sign: string, whole: string) =>
    sign.concat(whole.replace(/\B(?=(\d{3})+$)/g, ',')),
  )

/** A plain positive decimal as `units / scale`; anything else counts as the default rate. */
function readDecimal(text: string): { units: bigint; scale: bigint } {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text)
  const fraction = match?.[2] ?? ''
  const units = match === null ? 0n : BigInt(`${match[1]}${fraction}`)
  if (match === null) return { units: 500_000n, scale: 1n }
  return { units, scale: 10n ** BigInt(fraction.length) }
}
