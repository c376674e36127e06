import { type ErrorCatalogue, errorsOf } from '#infra/http/http-error-class-and-catalogue.ts'
import type { MailErrorCode } from '#infra/mail/port.ts'

const MAIL_ERRORS = {
  MailRequired: [200, { zh: '请输入邮箱！', en: 'Enter the mail address' }],
  MailInvalid: [200, { zh: '邮箱地址格式错误', en: 'The mail address is invalid' }],
  MailNotSetUp: [
    200,
    { zh: '管理员尚未配置邮件服务器', en: 'The administrator has not set up a mail server' },
  ],
  MailNotSent: [
    200,
    {
      zh: '邮件发送失败，请稍后再试或联系管理员',
      en: 'The mail could not be sent. Try again later or contact the administrator',
    },
  ],
  TestMailFailed: [200, ({ error = '' }) => TEST_MAIL_FAILURES[error as MailErrorCode]],
} satisfies ErrorCatalogue<string>

export const mailError = errorsOf(MAIL_ERRORS)

/**
 * The detailed errors of a test mail. Only admins see these errors, because admins can correct the
 * mail settings.
 */
const TEST_MAIL_FAILURES: Readonly<
  Record<MailErrorCode, { readonly zh: string; readonly en: string }>
> = {
  'not-set-up': {
    zh: '请先填写并保存 SMTP 服务器地址与发送者邮箱',
    en: 'Enter and save the SMTP server and the sender address first',
  },
  'not-allowed': {
    zh: '不允许使用该邮件服务器地址（内网地址须列入 PRIVATE_UPSTREAMS）',
    en: 'The address of the mail server is not allowed (list private ones in PRIVATE_UPSTREAMS)',
  },
  unreachable: {
    zh: '无法连接邮件服务器，请检查地址与端口',
    en: 'The mail server cannot be reached. Check its address and port',
  },
  'timed-out': {
    zh: '邮件服务器没有及时响应，请检查端口与 SSL 开关',
    en: 'The mail server did not answer in time. Check the port and the SSL switch',
  },
  'not-safe': {
    zh: '邮件服务器不支持 TLS 或证书不受信任，不会以明文发送凭证',
    en: 'The mail server has no TLS or an untrusted certificate. No password is sent in plain text',
  },
  'login-refused': {
    zh: '邮件服务器拒绝登录，请检查账户与访问凭证',
    en: 'The mail server rejected the login. Check the account and the password',
  },
  'mail-refused': {
    zh: '邮件服务器拒收该邮件，请检查发送者与收件人',
    en: 'The mail server rejected the mail. Check the sender and the recipient',
  },
  busy: {
    zh: '正在发送的邮件过多，请稍后再试',
    en: 'Too many mails are being sent. Try again later',
  },
}
