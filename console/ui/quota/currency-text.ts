/**
 * Formats an amount of money in a language. If the browser does not know the currency, returns the
 * digits and the code of the currency.
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
