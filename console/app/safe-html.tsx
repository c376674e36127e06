import { createElement, type ReactElement, type ReactNode, useMemo } from 'react'

const TAGS = new Set([
  ...['a', 'b', 'br', 'code', 'div', 'em', 'i', 'li', 'ol', 'p', 'small', 'span', 'strong', 'u'],
  'ul',
])
const DROPPED = new Set(['script', 'style', 'iframe', 'object', 'embed', 'template', 'noscript'])
const DEPTH_MAX = 20

type HtmlPolicy = { createHTML: (html: string) => string }
type PolicyFactory = {
  createPolicy: (name: string, rules: HtmlPolicy) => HtmlPolicy
}

/**
 * HTML of the operator, shown without trusting it: parsed into a document that runs nothing, then
 * drawn anew from a short list of elements, with links to http, https and mail alone.
 */
export function SafeHtml({ html }: { html: string }): ReactElement {
  const nodes = useMemo(() => childrenOf(parse(html).body, 0), [html])
  return <div className="tg-safe-html">{nodes}</div>
}

// NOTE: parsing into an inert document is what this policy is for; nothing else may use it.
function parse(html: string): Document {
  const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes
  policy ??= factory?.createPolicy('inert-parser', { createHTML: (text) => text })
  return new DOMParser().parseFromString(policy?.createHTML(html) ?? html, 'text/html')
}

let policy: HtmlPolicy | undefined

function childrenOf(node: Node, depth: number): ReactNode[] {
  if (depth > DEPTH_MAX) return []
  return [...node.childNodes].map((child, index) => draw(child, `${depth}-${index}`, depth))
}

function draw(node: Node, key: string, depth: number): ReactNode {
  if (node.nodeType === Node.TEXT_NODE) return node.textContent
  if (!(node instanceof Element)) return null
  const tag = node.localName
  if (DROPPED.has(tag)) return null
  const children = childrenOf(node, depth + 1)
  if (!TAGS.has(tag)) return children
  if (tag === 'br') return createElement('br', { key })
  return createElement(tag, { key, ...linkOf(node) }, ...children)
}

function linkOf(element: Element): Record<string, string> {
  const href = element.localName === 'a' ? element.getAttribute('href') : null
  if (href === null || !/^(https?:|mailto:|\/(?!\/))/i.test(href.trim())) return {}
  return { href: href.trim(), target: '_blank', rel: 'noopener noreferrer nofollow' }
}
