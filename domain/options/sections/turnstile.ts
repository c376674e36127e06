import { WITH_ACCOUNTS } from '../notes.ts'
import { FLAG, SECRET, text } from '../option-type.ts'
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
      note: WITH_ACCOUNTS,
    },
    {
      key: 'TurnstileSiteKey',
      type: text(200),
      preset: '',
      access: 'root',
      label: { zh: 'Turnstile Site Key', en: 'Turnstile site key' },
      note: WITH_ACCOUNTS,
    },
    {
      key: 'TurnstileSecretKey',
      type: SECRET,
      preset: '',
      access: 'secret',
      label: { zh: 'Turnstile Secret Key', en: 'Turnstile secret key' },
      note: WITH_ACCOUNTS,
    },
  ],
}
