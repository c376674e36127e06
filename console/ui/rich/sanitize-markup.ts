import createDOMPurify, { type DOMPurify } from 'dompurify'
import { parse } from 'marked'
import { CHINESE_FONTS } from '#console/theme/chinese-fonts.ts'
import latinFonts from '#console/theme/fonts.css?url'

/**
 * The tags that are removed from a text of the operator. With such a tag, the text could cover the
 * page, accept input or change the look of the site.
 */
const FORBIDDEN_TAGS = [
  ...['style', 'form', 'input', 'button', 'select', 'textarea', 'iframe', 'object', 'embed'],
  ...['svg', 'math', 'audio', 'video', 'link', 'meta', 'base'],
]
/** Tags that are removed together with their content. */
const WITHOUT_CONTENT = 'style, script, iframe, audio, video, math, noscript'
const FORBIDDEN_ATTRIBUTES = ['style', 'class', 'id', 'name', 'target', 'srcset']

type FrameStyle = {
  isDark: boolean
  language: string
  isSmall: boolean
  isHtml: boolean
}

const STYLES = [latinFonts, ...CHINESE_FONTS, '/frame.css']
const styleLink = (href: string): string => `<link rel="stylesheet" href="${href}">`

const STYLE_ATTRIBUTE = /(<[^<>]*?\s)style(?=\s*=)/gi

let purifier: DOMPurify | undefined

/**
 * Returns the HTML document that the frame shows for a text of the operator. Links open in a new
 * tab. Images of other hosts become links.
 */
export function frameDocument(text: string, style: FrameStyle): string {
  const html = style.isHtml ? text : parse(text, { async: false, gfm: true, breaks: false })
  const clean = purify().sanitize(withoutStyles(html), {
    FORBID_TAGS: FORBIDDEN_TAGS,
    FORBID_ATTR: FORBIDDEN_ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|\/(?!\/)|#|data:image\/)/i,
  })
  const theme = style.isDark ? 'dark' : 'light'
  return (
    `<!doctype html><html lang="${style.language}" data-theme="${theme}"><head>` +
    `<meta charset="utf-8">${STYLES.map(styleLink).join('')}</head>` +
    `<body${style.isSmall ? ' class="small"' : ''}>${clean}</body></html>`
  )
}

/**
 * Returns the HTML without styles, because the Content Security Policy (CSP) would block and report
 * them. The elements in `WITHOUT_CONTENT` are also removed, and links without text get a text. The
 * HTML is parsed in a `<template>` element, in which nothing is loaded or run.
 */
function withoutStyles(html: string): string {
  const template = document.createElement('template')
  template.innerHTML = trustedHtml(html.replace(STYLE_ATTRIBUTE, '$1data-style'))
  for (const node of template.content.querySelectorAll(WITHOUT_CONTENT)) node.remove()
  for (const link of template.content.querySelectorAll('a')) labelBareLink(link)
  return template.innerHTML
}

/**
 * Adds a text to a link without text. An SVG in the link is replaced by the title of the SVG. If
 * the link then contains neither text nor an image, the label, the title or the URL of the link
 * becomes the text. An empty link without a URL is removed.
 */
function labelBareLink(link: Element): void {
  for (const drawing of link.querySelectorAll('svg')) {
    drawing.replaceWith(drawing.querySelector('title')?.textContent ?? '')
  }
  if (link.textContent.trim() !== '' || link.querySelector('img') !== null) return
  const href = link.getAttribute('href') ?? ''
  if (href === '') return link.remove()
  link.textContent = link.getAttribute('aria-label') || link.getAttribute('title') || href
}

function purify(): DOMPurify {
  if (purifier !== undefined) return purifier
  const made = createDOMPurify(window)
  made.addHook('afterSanitizeAttributes', (node) => {
    if (node.localName === 'a') {
      node.setAttribute('target', '_blank')
      node.setAttribute('rel', 'noopener noreferrer nofollow')
    }
    if (node.localName === 'img') replaceForeign(node)
  })
  purifier = made
  return made
}

/**
 * Replaces an image of another host with a link or, inside a link, with a text. The CSP blocks such
 * images, because they could track readers.
 */
function replaceForeign(image: Element): void {
  const source = image.getAttribute('src') ?? ''
  if (/^(?:\/(?!\/)|data:image\/)/.test(source)) return
  const enclosingLink = image.closest('a')
  const name = image.getAttribute('alt') || enclosingLink?.getAttribute('href') || source
  // An image in a link is replaced by its name, because a link can't contain another link. An image
  // without a URL is also replaced by its name.
  if (enclosingLink !== null || source === '') {
    image.replaceWith(name)
    if (enclosingLink?.textContent.trim() === '') enclosingLink.remove()
    return
  }
  const link = image.ownerDocument.createElement('a')
  link.textContent = name
  link.setAttribute('href', source)
  link.setAttribute('target', '_blank')
  link.setAttribute('rel', 'noopener noreferrer nofollow')
  image.replaceWith(link)
}

type HtmlPolicy = { createHTML: (html: string) => string }
type PolicyFactory = { createPolicy: (name: string, rules: HtmlPolicy) => HtmlPolicy }

let policy: HtmlPolicy | undefined

/**
 * Returns HTML that is marked as trusted for the browser. Use this function only for the content of
 * `<template>` elements, in which no script runs, and for sanitized text in a frame without
 * scripts.
 */
export function trustedHtml(html: string): string {
  const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes
  policy ??= factory?.createPolicy('rich-text', { createHTML: (text) => text })
  return policy?.createHTML(html) ?? html
}
