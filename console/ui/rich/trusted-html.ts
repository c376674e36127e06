type HtmlPolicy = { createHTML: (html: string) => string }
type PolicyFactory = { createPolicy: (name: string, rules: HtmlPolicy) => HtmlPolicy }

let policy: HtmlPolicy | undefined

/**
 * Marks HTML as trusted (Trusted Types). NOTE: Use it only for an inert template, or for sanitized
 * HTML in a sandboxed frame.
 */
export function trustedHtml(html: string): string {
  const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes
  policy ??= factory?.createPolicy('rich-text', { createHTML: (text) => text })
  return policy?.createHTML(html) ?? html
}
