/** Returns the WCAG 2 contrast ratio between the first colors of two CSS texts. */
export function contrast(one: string, two: string): number {
  const luminance = (text: string): number => {
    const [red = 0, green = 0, blue = 0] = (text.match(/[\d.]+/g) ?? []).slice(0, 3).map((part) => {
      const value = Number(part) / 255
      return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const [a, b] = [luminance(one), luminance(two)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}
