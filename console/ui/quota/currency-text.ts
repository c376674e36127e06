/** Formats an amount. For an unknown currency, returns the digits and the currency code. */
export function moneyText(money: string, currency: string, language: string): string {
  try {
    // `Intl` does not round an amount that is given as text.
    return new Intl.NumberFormat(language, { style: 'currency', currency }).format(
      money as `${number}`,
    )
  } catch {
    return `${money} ${currency}`
  }
}
