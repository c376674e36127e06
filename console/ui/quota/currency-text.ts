/** Formats money in a language. For an unknown currency, returns the digits and the code. */
export function moneyText(money: string, currency: string, language: string): string {
  try {
    // `Intl` formats a text without rounding, so the server's exact digits are kept.
    return new Intl.NumberFormat(language, { style: 'currency', currency }).format(
      money as `${number}`,
    )
  } catch {
    return `${money} ${currency}`
  }
}
