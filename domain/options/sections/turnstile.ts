import { FLAG, SECRET, text, URL_TEXT } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

export const TURNSTILE: OptionSection = {
  id: 'turnstile',
  tab: 'system',
  title: { zh: 'Turnstile 人机验证', en: 'Turnstile human check' },
  lead: { zh: '用于注册、登录与密码重置。', en: 'At registration, login and password reset.' },
  options: [
    {
      key: 'TurnstileCheckEnabled',
      type: FLAG,
      preset: 'false',
      access: 'root',
      label: { zh: '启用 Turnstile 用户校验', en: 'Check that visitors are human' },
      help: {
        zh: '填好 Site Key 与 Secret Key 之后才会生效；无法校验时一律拒绝。',
        en: 'In force once both keys are set; what can not be verified is refused.',
      },
    },
    {
      key: 'TurnstileSiteKey',
      type: text(200),
      preset: '',
      access: 'root',
      label: { zh: 'Turnstile Site Key', en: 'Turnstile site key' },
    },
    {
      key: 'TurnstileSecretKey',
      type: SECRET,
      preset: '',
      access: 'secret',
      label: { zh: 'Turnstile Secret Key', en: 'Turnstile secret key' },
    },
    {
      key: 'TurnstileVerifyURL',
      type: URL_TEXT,
      isAsked: true,
      preset: '',
      access: 'root',
      label: { zh: 'Turnstile 校验地址', en: 'Address that verifies' },
      help: {
        zh: '留空则使用官方 siteverify 地址。',
        en: 'Empty: the provider’s own siteverify address.',
      },
    },
  ],
}
