import type { Refusals } from '../refusal-table.ts'

export const PASSWORD_REFUSALS: Refusals<
  'LoginVoid' | 'OwnPasswordElsewhere' | 'PasswordUnchanged'
> = {
  LoginVoid: [
    401,
    {
      zh: '登录状态已失效，请重新登录！',
      en: 'Your login has become void meanwhile: log in again',
    },
  ],
  PasswordUnchanged: [
    200,
    {
      zh: '新密码不能与当前的临时密码相同',
      en: 'Choose another password than the temporary one',
    },
  ],
  OwnPasswordElsewhere: [
    200,
    {
      zh: '请在个人设置中修改自己的密码',
      en: 'Change your own password in your personal settings',
    },
  ],
}
