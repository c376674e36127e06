type HtmlPolicy = { createHTML: (html: string) => string }
type PolicyFactory = { createPolicy: (name: string, rules: HtmlPolicy) => HtmlPolicy }

let policy: HtmlPolicy | undefined

/**
 * Marks HTML as trusted for the browser. NOTE: use it only for the content of `<template>`
 * elements, in which no script runs, and for sanitized text in a frame without scripts.
 */
export function trustedHtml(html: string): string {
  const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes
  policy ??= factory?.createPolicy('rich-text', { createHTML: (text) => text })
  return policy?.createHTML(html) ?? html
}
