import type { Language } from '#infra/http/language.ts'
import type { Mail } from '#infra/mail/port.ts'

type Written = Omit<Mail, 'to'>

/** A mail as its parts: one bold line, a code or a link, at most, stands out. */
type Draft = {
  readonly subject: string
  readonly lines: readonly string[]
  readonly code?: string
  readonly link?: { readonly url: string; readonly label: string }
  readonly last?: string
}

/** In plain text, and as HTML that says the same. */
export function written({ subject, lines, code, link, last }: Draft): Written {
  const shown = [...lines, ...(code === undefined ? [] : [code]), ...(link ? [link.url] : [])]
  const text = [...shown, ...(last === undefined ? [] : [last])].join('\n\n')
  const paragraphs = [
    ...lines.map((line) => `<p style="margin:0 0 16px">${escaped(line)}</p>`),
    code === undefined ? '' : `<p style="${CODE}">${escaped(code)}</p>`,
    link === undefined
      ? ''
      : `<p style="margin:0 0 16px"><a style="${LINK}" href="${escaped(link.url)}">` +
        `${escaped(link.label)}</a></p><p style="${SMALL}">${escaped(link.url)}</p>`,
    last === undefined ? '' : `<p style="${SMALL}">${escaped(last)}</p>`,
  ]
  return { subject, text, html: `<div style="${BODY}">${paragraphs.join('')}</div>` }
}

const BODY =
  'max-width:520px;font:15px/1.6 -apple-system,Segoe UI,Helvetica,Arial,sans-serif;color:#1c2127'
const CODE = 'margin:0 0 16px;font:600 28px/1.2 ui-monospace,Menlo,Consolas,monospace'
const LINK =
  'display:inline-block;padding:10px 18px;border-radius:4px;background:#215db0;color:#ffffff;' +
  'text-decoration:none'
const SMALL = 'margin:0 0 16px;font-size:13px;color:#5f6b7c;word-break:break-all'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (one) => ENTITIES[one] ?? one)

export function testMail(language: Language, site: string): Written {
  return language === 'zh'
    ? written({ subject: `${site} 测试邮件`, lines: ['邮件服务器设置有效，可以发送邮件。'] })
    : written({ subject: `${site}: test mail`, lines: ['The mail server works as it is set up.'] })
}
