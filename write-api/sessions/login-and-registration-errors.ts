import { type ErrorCatalogue, errorsOf } from '#infra/http/http-error-class-and-catalogue.ts'

const LOGIN_ERRORS = {
  RegistrationClosed: [
    200,
    { zh: '管理员关闭了新用户注册', en: 'The administrator has closed registration' },
  ],
  PasswordRegistrationClosed: [
    200,
    {
      zh: '管理员关闭了通过密码进行注册，请使用第三方账户验证的形式进行注册',
      en: 'Registration with a password is closed. Register with a third-party account instead',
    },
  ],
  HumanCheckRequired: [
    200,
    {
      zh: '请稍后几秒重试，Turnstile 正在检查用户环境！',
      en: 'Turnstile is still checking your browser. Try again in a few seconds',
    },
  ],
  HumanCheckFailed: [
    200,
    {
      zh: 'Turnstile 校验失败，请刷新重试！',
      en: 'The Turnstile check failed. Reload the page and try again',
    },
  ],
  MailDomainNotAllowed: [
    200,
    {
      zh: '管理员启用了邮箱域名白名单，您的邮箱地址的域名不在白名单中',
      en: 'The administrator allows only certain mail domains, and yours is not among them',
    },
  ],
  MailVerificationOff: [
    200,
    {
      zh: '管理员未启用邮箱验证，注册无需验证码',
      en: 'Mail verification is off, so registration does not need a code',
    },
  ],
  MailCodeRequired: [200, { zh: '请输入邮箱验证码！', en: 'Enter the code from the mail' }],
  MailCodeWrong: [200, { zh: '验证码错误或已过期', en: 'The code is wrong or has expired' }],
  ResetLinkInvalid: [
    200,
    { zh: '重置链接非法或已过期', en: 'The reset link is invalid or has expired' },
  ],
  ServerAddressRequired: [
    200,
    {
      zh: '管理员尚未填写服务器地址，无法发送重置链接',
      en: 'No reset link can be sent, because the administrator has not set the server address',
    },
  ],
  WrongCredentials: [200, { zh: '用户名或密码错误', en: 'Wrong username or password' }],
  UserBanned: [200, { zh: '用户已被封禁', en: 'This user has been banned' }],
  UserDeactivated: [200, { zh: '用户已注销', en: 'This user has been deactivated' }],
  PasswordLoginDisabled: [
    200,
    { zh: '管理员关闭了密码登录', en: 'The administrator has disabled password login' },
  ],
} satisfies ErrorCatalogue<string>

export const loginError = errorsOf(LOGIN_ERRORS)
