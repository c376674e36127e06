/** A sum as people of this language write it. Falls back to digits and code. */
export function moneyText(money: string, currency: string, language: string): string {
  try {
    // The digits are the server's own, to the cent: a text of them is formatted exactly.
    return new Intl.NumberFormat(language, { style: 'currency', currency }).format(
      money as `${number}`,
    )
  } catch {
    return `${money} ${currency}`
  }
}
