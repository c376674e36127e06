import { FLAG, lines } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

export const LOGIN: OptionSection = {
  id: 'login',
  tab: 'system',
  title: { zh: '登录与注册', en: 'Login and registration' },
  lead: { zh: '谁可以进入本站。', en: 'Who may come in.' },
  options: [
    {
      key: 'PasswordLoginEnabled',
      type: FLAG,
      preset: 'true',
      access: 'root',
      label: { zh: '允许通过密码登录', en: 'Log in by password' },
      askBefore: {
        value: 'false',
        words: {
          zh: '取消密码登录将导致所有未绑定其他登录方式的用户（包括管理员）无法登录，确认取消？',
          en: 'Whoever has no other way in, admins included, can’t log in any more. Turn it off?',
        },
      },
    },
    {
      key: 'RegisterEnabled',
      type: FLAG,
      preset: 'true',
      label: { zh: '允许新用户注册', en: 'Registration' },
    },
    {
      key: 'PasswordRegisterEnabled',
      type: FLAG,
      preset: 'true',
      label: { zh: '允许通过密码注册', en: 'Register by password' },
    },
    {
      key: 'EmailVerificationEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '通过密码注册时需要邮箱验证', en: 'Verify the mail address at registration' },
    },
    {
      key: 'EmailDomainRestrictionEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '启用邮箱域名白名单', en: 'Only some mail domains' },
    },
    {
      key: 'EmailDomainWhitelist',
      type: lines(20_000),
      preset: '',
      label: { zh: '允许的邮箱域名', en: 'Mail domains that may register' },
      help: { zh: '每行一个，例如 example.com。', en: 'One a line, as example.com.' },
    },
  ],
}
