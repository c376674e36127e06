import { type ErrorCatalogue, errorsOf } from '#infra/http/http-error-class-and-catalogue.ts'

export const CREDENTIALS_ERRORS = {
  TotpAlreadyOn: [
    200,
    {
      zh: '已启用身份验证器，请先停用',
      en: 'An authenticator app is already set up. Turn it off first',
    },
  ],
  NoSecondFactor: [200, { zh: '尚未启用两步验证', en: 'Two-step login is not set up' }],
  CodeUsed: [
    200,
    {
      zh: '该验证码已使用，请等待下一个',
      en: 'This code has already been used. Wait for the next one',
    },
  ],
  CodeWrong: [200, { zh: '验证码错误', en: 'The code is wrong' }],
  PasskeyKnown: [200, { zh: '该通行密钥已添加', en: 'This passkey has already been added' }],
  PasskeyUnknown: [404, { zh: '通行密钥不存在', en: 'The passkey does not exist' }],
  PasskeyCopied: [
    200,
    {
      zh: '该通行密钥可能已被复制，请改用其他方式登录并删除它',
      en: 'This passkey may have been copied. Sign in another way and remove it',
    },
  ],
  PasskeysChanged: [
    200,
    {
      zh: '通行密钥已发生变化，请重试',
      en: 'The passkeys have changed in the meantime. Try again',
    },
  ],
  TooManyPasskeys: [
    200,
    ({ limit = '' }) => ({
      zh: `通行密钥数量已达上限 ${limit}`,
      en: `You can have at most ${limit} passkeys`,
    }),
  ],
  LoginTicketOver: [
    200,
    { zh: '验证已失效，请重新登录', en: 'This login has expired. Sign in again' },
  ],
  ProofNeeded: [200, { zh: '请输入密码或验证码', en: 'Enter your password or a code' }],
  ProofWrong: [200, { zh: '密码错误', en: 'The password is wrong' }],
  ProofNotRecent: [
    200,
    { zh: '请先验证您的身份，或重新登录', en: 'Confirm your identity first, or sign in again' },
  ],
  LoginNotRecent: [
    200,
    {
      zh: '请先退出并重新登录，然后在 30 分钟内操作',
      en: 'Sign out and sign in again, then do this within 30 minutes',
    },
  ],
  OwnSecondFactorElsewhere: [
    200,
    {
      zh: '请在个人设置中停用自己的两步验证',
      en: 'Turn off your own two-step login in your personal settings',
    },
  ],
  OnlyPasskeysLeft: [
    200,
    {
      zh: '该用户只能使用通行密钥登录，请先为其设置密码',
      en: 'This user can sign in only with a passkey. Set a password for the user first',
    },
  ],
  TotpOfferOver: [200, { zh: '设置已过期，请重新开始', en: 'The setup has expired. Start again' }],
  PasskeyFailed: [200, { zh: '通行密钥验证失败', en: 'The passkey could not be verified' }],
  PasskeyNameRequired: [200, { zh: '请填写通行密钥名称', en: 'Enter a name for the passkey' }],
  PasskeyNeedsDomain: [
    200,
    {
      zh: '通行密钥需要通过域名访问本站（本机可使用 localhost）',
      en: 'Passkeys require the site to be opened under a domain name or on localhost',
    },
  ],
} satisfies ErrorCatalogue<string>

export const credentialsError = errorsOf(CREDENTIALS_ERRORS)
