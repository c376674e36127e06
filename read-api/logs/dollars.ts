const DECIMALS = 6

/**
 * Writes a quota as dollars with six decimals, rounded half away from zero. `quotaPerUnit` is the
 * option's decimal; one that is none counts as the default.
 */
export function dollarsAt(quotaPerUnit: string): (quota: bigint) => string {
  const { units, scale } = readDecimal(quotaPerUnit)
  const factor = scale * 10n ** BigInt(DECIMALS)
  return (quota) => {
    const scaled = (quota < 0n ? -quota : quota) * factor
    const rounded = (scaled * 2n + units) / (units * 2n)
    const text = String(rounded).padStart(DECIMALS + 1, '0')
    const sign = quota < 0n && rounded > 0n ? '-' : ''
    return `${sign}${text.slice(0, -DECIMALS)}.${text.slice(-DECIMALS)}`
  }
}

function readDecimal(text: string): { units: bigint; scale: bigint } {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text)
  const fraction = match?.[2] ?? ''
  const units = match === null ? 0n : BigInt(`${match[1]}${fraction}`)
  return units === 0n
    ? { units: 500_000n, scale: 1n }
    : { units, scale: 10n ** BigInt(fraction.length) }
}
