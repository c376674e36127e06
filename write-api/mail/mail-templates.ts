import type { Language } from '#infra/http/request-language.ts'
import type { Mail } from '#infra/mail/port.ts'

type MailContent = Omit<Mail, 'to'>

/** The parts of a mail. A code or a link is emphasized. */
type MailParts = {
  readonly subject: string
  readonly lines: readonly string[]
  readonly code?: string
  readonly link?: { readonly url: string; readonly label: string }
  readonly last?: string
}

/** Formats a mail as plain text and as HTML. */
export function renderMail({ subject, lines, code, link, last }: MailParts): MailContent {
  const body = [...lines, ...(code === undefined ? [] : [code]), ...(link ? [link.url] : [])]
  const text = [...body, ...(last === undefined ? [] : [last])].join('\n\n')
  const paragraphs = [
    ...lines.map((line) => `<p style="margin:0 0 16px">${escapeHtml(line)}</p>`),
    code === undefined ? '' : `<p style="${CODE}">${escapeHtml(code)}</p>`,
    link === undefined
      ? ''
      : `<p style="margin:0 0 16px"><a style="${LINK}" href="${escapeHtml(link.url)}">` +
        `${escapeHtml(link.label)}</a></p><p style="${SMALL}">${escapeHtml(link.url)}</p>`,
    last === undefined ? '' : `<p style="${SMALL}">${escapeHtml(last)}</p>`,
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

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (one) => ENTITIES[one] ?? one)

export function testMail(language: Language, site: string): MailContent {
  return language === 'zh'
    ? renderMail({ subject: `${site} 测试邮件`, lines: ['邮件服务器设置有效，可以发送邮件。'] })
    : renderMail({ subject: `${site}: test mail`, lines: ['The mail server settings work.'] })
}

export function codeMail(
  language: Language,
  site: string,
  code: string,
  minutes: number,
): MailContent {
  return language === 'zh'
    ? renderMail({
        subject: `${site} 邮箱验证邮件`,
        lines: [`您好，您正在进行 ${site} 邮箱验证。您的验证码为：`],
        code,
        last: `验证码 ${minutes} 分钟内有效，如果不是本人操作，请忽略。`,
      })
    : renderMail({
        subject: `${site}: verify your mail address`,
        lines: [`Hello, this address is being verified at ${site}. Your code is:`],
        code,
        last: `It is valid for ${minutes} minutes. If you did not request it, ignore this mail.`,
      })
}

export function addressInUseMail(language: Language, site: string): MailContent {
  return language === 'zh'
    ? renderMail({
        subject: `${site} 邮箱验证邮件`,
        lines: [
          `您好，有人尝试在 ${site} 使用这个邮箱地址，但它已经绑定了一个账户。`,
          '如果是您本人，请直接登录；忘记密码时可以通过邮件重置。',
        ],
        last: '如果不是本人操作，请忽略。',
      })
    : renderMail({
        subject: `${site}: this address has an account`,
        lines: [
          `Hello, a code for this address was requested at ${site}, but the address already ` +
            'belongs to an account.',
          'If that was you, sign in to the account. You can reset a forgotten password by mail.',
        ],
        last: 'If you did not request it, ignore this mail.',
      })
}

export function resetMail(
  language: Language,
  site: string,
  url: string,
  minutes: number,
): MailContent {
  return language === 'zh'
    ? renderMail({
        subject: `${site} 密码重置`,
        lines: [`您好，您正在进行 ${site} 密码重置。请打开以下链接完成重置：`],
        link: { url, label: '重置密码' },
        last: `链接 ${minutes} 分钟内有效，只能使用一次。如果不是本人操作，请忽略。`,
      })
    : renderMail({
        subject: `${site}: reset your password`,
        lines: [`Hello, a password reset was requested at ${site}. Open this link to complete it:`],
        link: { url, label: 'Reset the password' },
        last: `It works once within ${minutes} minutes. If you did not request it, ignore it.`,
      })
}

/**
 * Returns the mail that tells a user about the reset of the second factors. The text is in Chinese
 * and English, because the user's language is unknown. `hasPassword` is false for a user without a
 * password.
 */
export const factorResetMail = (site: string, hasPassword: boolean): MailContent =>
  renderMail({
    subject: `${site}：两步验证已被重置 / Two-step login was reset`,
    lines: [
      `管理员重置了您在 ${site} 的两步验证，所有会话均已退出。` +
        `请${hasPassword ? '使用密码' : ''}登录并重新启用两步验证。`,
      `An administrator has reset your two-step login at ${site} and signed you out ` +
        `everywhere. Sign in ${hasPassword ? 'with your password ' : ''}and set it up again.`,
    ],
    last: '如果您没有请求重置，请联系管理员。 / If you did not request this, contact the administrator.',
  })
