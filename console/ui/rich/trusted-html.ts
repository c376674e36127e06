type HtmlPolicy = { createHTML: (html: string) => string }
type PolicyFactory = { createPolicy: (name: string, rules: HtmlPolicy) => HtmlPolicy }

let policy: HtmlPolicy | undefined

/** NOTE: Use this function only for inert templates and for sanitized, sandboxed frames. */
export function trustedHtml(html: string): string {
  const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes
  policy ??= factory?.createPolicy('rich-text', { createHTML: (text) => text })
  return policy?.createHTML(html) ?? html
}
