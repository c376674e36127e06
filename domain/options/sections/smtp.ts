import type { OptionSection } from '../option-definition.ts'
import { FLAG, formed, integer, SECRET, text } from '../option-type.ts'

export const SMTP: OptionSection = {
  id: 'smtp',
  tab: 'system',
  title: { zh: '邮件服务器（SMTP）', en: 'Mail server (SMTP)' },
  lead: { zh: '用于验证码、密码重置与额度提醒。', en: 'For codes, password resets and reminders.' },
  options: [
    {
      key: 'SMTPServer',
      type: formed('host', 255),
      preset: '',
      access: 'root',
      label: { zh: 'SMTP 服务器地址', en: 'Mail server' },
      help: {
        zh: '内网地址须列入 PRIVATE_UPSTREAMS。',
        en: 'One in a private network has to be in PRIVATE_UPSTREAMS.',
      },
    },
    {
      key: 'SMTPPort',
      type: integer(1, 65_535),
      preset: '587',
      access: 'root',
      label: { zh: 'SMTP 端口', en: 'Mail port' },
    },
    {
      key: 'SMTPSSLEnabled',
      type: FLAG,
      preset: 'false',
      access: 'root',
      label: { zh: '启用 SMTP SSL', en: 'Mail over TLS from the start' },
      help: { zh: '通常用于 465 端口。', en: 'Usually with port 465.' },
    },
    {
      key: 'SMTPAccount',
      type: text(320),
      preset: '',
      access: 'root',
      label: { zh: 'SMTP 账户', en: 'Mail account' },
    },
    {
      key: 'SMTPFrom',
      type: formed('mail', 320),
      preset: '',
      access: 'root',
      label: { zh: 'SMTP 发送者邮箱', en: 'Sender of mails' },
      help: { zh: '留空则使用 SMTP 账户。', en: 'Empty: the mail account.' },
    },
    {
      key: 'SMTPToken',
      type: SECRET,
      preset: '',
      access: 'secret',
      label: { zh: 'SMTP 访问凭证', en: 'Mail password' },
    },
  ],
}
