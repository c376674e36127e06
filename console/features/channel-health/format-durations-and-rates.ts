/** Formats a duration as `850 ms`, `1.2 s` or `42 s`. */
export function durationText(milliseconds: number, number: Intl.NumberFormat): string {
  if (milliseconds < 995) return `${number.format(Math.round(milliseconds))} ms`
  const seconds = milliseconds / 1_000
  return `${number.format(seconds < 9.95 ? Math.round(seconds * 10) / 10 : Math.round(seconds))} s`
}

/** Formats a success rate as a percentage. A rate below 1 is never shown as 100%. */
export function rateText(rate: number, number: Intl.NumberFormat): string {
  const percent = rate * 100
  return `${number.format(percent >= 99.95 && rate < 1 ? 99.9 : Math.round(percent * 10) / 10)}%`
}

export const speedText = (tokensPerSecond: number, number: Intl.NumberFormat): string =>
  number.format(
    tokensPerSecond < 9.95 ? Math.round(tokensPerSecond * 10) / 10 : Math.round(tokensPerSecond),
  )

export function countdownText(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1_000))
  const rest = String(seconds % 60).padStart(2, '0')
  return `${Math.floor(seconds / 60)}:${rest}`
}
