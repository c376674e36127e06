type HtmlPolicy = { createHTML: (html: string) => string }
type PolicyFactory = { createPolicy: (name: string, rules: HtmlPolicy) => HtmlPolicy }

let policy: HtmlPolicy | undefined

/**
 * Marks HTML as trusted. NOTE: Use it only for templates, in which nothing runs, and for sanitized
 * text in a frame without scripts.
 */
export function trustedHtml(html: string): string {
  const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes
  policy ??= factory?.createPolicy('rich-text', { createHTML: (text) => text })
  return policy?.createHTML(html) ?? html
}
