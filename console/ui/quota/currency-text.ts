/**
 * Formats an amount of money. If the browser does not know the currency, returns the digits and the
 * currency code.
 */
export function moneyText(money: string, currency: string, language: string): string {
  try {
    // `Intl` reads a text exactly, but a number would lose digits.
    return new Intl.NumberFormat(language, { style: 'currency', currency }).format(
      money as `${number}`,
    )
  } catch {
    return `${money} ${currency}`
  }
}
