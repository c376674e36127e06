import type { Refusals } from '../refusals.ts'

export const PASSWORD_REFUSALS: Refusals<'LoginVoid' | 'OwnPasswordElsewhere'> = {
  LoginVoid: [
    401,
    {
      zh: '登录状态已失效，请重新登录！',
      en: 'Your login has become void meanwhile: log in again',
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
