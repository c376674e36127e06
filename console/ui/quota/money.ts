export type MoneyRule = { quotaPerUnit: string; isCurrency: boolean }

export const DEFAULT_RULE: MoneyRule = { quotaPerUnit: '500000', isCurrency: true }

export const quotaOf = (wire: number): bigint =>
  Number.isSafeInteger(wire) ? BigInt(wire) : BigInt(Math.trunc(wire))

/**
 * Formats quota in the unit that the site shows. Dollars have `digits` decimals, but an amount that
 * would look like zero gets more decimals (up to 9). Quota units from 10,000 are shortened, as in
 * `12.3k`.
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

/** Converts quota to dollars, multiplies the dollars by 10^`digits`, and cuts off the fraction. */
function scaledUp(magnitude: bigint, { quotaPerUnit }: MoneyRule, digits: number): bigint {
  const { units, scale } = readDecimal(quotaPerUnit)
  return (magnitude * scale * 10n ** BigInt(digits)) / units
}

/**
 * Formats quota in the unit that the site shows. Dollars have 2 to 9 decimals and are rounded only
 * if 9 decimals are not enough.
 */
export function exactQuotaText(quota: bigint, rule: MoneyRule): string {
  if (!rule.isCurrency) return String(quota)
  return dollarText(quota, rule, DECIMALS_MAX).replace(/(\.\d\d\d*?)0+$/, '$1')
}

/**
 * Formats quota in dollars, even if the site shows quota units. Halves are rounded away from zero.
 */
export function dollarText(quota: bigint, rule: MoneyRule, digits = 2): string {
  const perUnit = readDecimal(rule.quotaPerUnit)
  const magnitude = quota < 0n ? -quota : quota
  const scaled = magnitude * perUnit.scale * 10n ** BigInt(digits)
  const rounded = (scaled * 2n + perUnit.units) / (perUnit.units * 2n)
  return `${quota < 0n && rounded > 0n ? '-' : ''}$${placePoint(rounded, digits)}`
}

/**
 * Converts an amount in dollars to quota units. Returns null if the text is not an amount, or if
 * the result would not be a whole number.
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
  const integer = groupDigits(text.slice(0, text.length - digits))
  return digits === 0 ? integer : `${integer}.${text.slice(-digits)}`
}

/**
 * Separates groups of three digits by commas, as in `12,345.5`. The result is the same in every
 * language.
 */
export const groupDigits = (decimal: string): string =>
  decimal.replace(/^([+-]?)(\d+)/, (_, sign: string, integer: string) =>
    sign.concat(integer.replace(/\B(?=(\d{3})+$)/g, ',')),
  )

/**
 * Parses a decimal without a sign as `units / scale`. For any other text, returns the default
 * number of quota units per dollar.
 */
function readDecimal(text: string): { units: bigint; scale: bigint } {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text)
  const fraction = match?.[2] ?? ''
  const units = match === null ? 0n : BigInt(`${match[1]}${fraction}`)
  if (match === null) return { units: 500_000n, scale: 1n }
  return { units, scale: 10n ** BigInt(fraction.length) }
}

/**
 * Formats an amount of money for a language. If `currency` can't be a code of a currency, returns
 * the digits and `currency`.
 */
export function moneyText(money: string, currency: string, language: string): string {
  try {
    // `Intl` also formats texts, with all their digits. A number would lose some digits.
    return new Intl.NumberFormat(language, { style: 'currency', currency }).format(
      money as `${number}`,
    )
  } catch {
    return `${money} ${currency}`
  }
}
