/** Formats money in the given language; falls back to digits and the currency code. */
export function moneyText(money: string, currency: string, language: string): string {
  try {
    // The server sends digits exact to the cent, and `Intl` formats a string without rounding.
    return new Intl.NumberFormat(language, { style: 'currency', currency }).format(
      money as `${number}`,
    )
  } catch {
    return `${money} ${currency}`
  }
}
