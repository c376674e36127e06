/** Formats money in a language. For an unknown currency, returns the digits and the code. */
export function moneyText(money: string, currency: string, language: string): string {
  try {
    // A text, because `Intl` does not round texts and the server's digits are exact.
    return new Intl.NumberFormat(language, { style: 'currency', currency }).format(
      money as `${number}`,
    )
  } catch {
    return `${money} ${currency}`
  }
}
