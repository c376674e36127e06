import type { IdentityProvider } from '#domain/identities/events.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import {
  type ErrorCatalogue,
  errorsOf,
  UNKNOWN_OBJECTS,
} from '#infra/http/http-error-class-and-catalogue.ts'

export const USER_ERRORS = {
  IdentityTaken: [
    200,
    ({ provider }) => {
      const { zh, en } = identityName(provider)
      return { zh: `该${zh}已被绑定`, en: `This ${en} is already bound to another user` }
    },
  ],
  ProviderBound: [
    200,
    ({ provider }) => {
      const { zh, en } = identityName(provider)
      return {
        zh: `您已绑定另一个${zh}，请先解绑`,
        en: `Another ${en} is bound to your account. Unbind it first`,
      }
    },
  ],
  MailIsUsername: [
    200,
    { zh: '该邮箱已是其他用户的用户名', en: 'This mail address is the username of another user' },
  ],
  IdentityChanged: [
    200,
    {
      zh: '绑定已发生变化，请刷新后重试',
      en: 'The binding has changed in the meantime. Refresh the page and try again',
    },
  ],
  WaysInChanged: [
    200,
    {
      zh: '登录方式已发生变化，请刷新后重试',
      en: 'The login methods have changed in the meantime. Refresh the page and try again',
    },
  ],
  LastWayIn: [
    200,
    {
      zh: '解绑后将无法登录，请先设置密码或绑定其他登录方式',
      en: 'You could no longer sign in. Set a password or bind another login method first',
    },
  ],
  UsernameRequired: [200, { zh: '用户名不能为空！', en: 'The username is required' }],
  UsernameInvalid: [
    200,
    { zh: '用户名不能包含空白字符', en: 'The username must not contain spaces' },
  ],
  UsernameUnseen: [
    200,
    {
      zh: '用户名不能包含控制字符或不可见字符',
      en: 'The username must not contain control characters or invisible characters',
    },
  ],
  UsernameMixed: [
    200,
    {
      zh: '用户名不能混用拉丁、西里尔和希腊字母',
      en: 'The username must not mix Latin, Cyrillic and Greek letters',
    },
  ],
  UsernameIsMail: [
    200,
    { zh: '用户名不能是邮箱地址', en: 'The username must not be a mail address' },
  ],
  UsernameTooLong: [
    200,
    ({ max = '' }) => ({
      zh: `用户名长度不得超过 ${max} 位！`,
      en: `The username must have at most ${max} characters`,
    }),
  ],
  UserFieldsRequired: [
    200,
    { zh: '用户名和密码不能为空！', en: 'Username and password are required' },
  ],
  PasswordTooShort: [
    200,
    { zh: '密码长度不得小于 8 位！', en: 'The password must have at least 8 characters' },
  ],
  PasswordTooLong: [
    200,
    ({ characters }) => ({
      zh: `密码长度不得超过 ${characters} 位！`,
      en: `The password must have at most ${characters} characters`,
    }),
  ],
  PasswordsDiffer: [200, { zh: '两次输入的密码不一致', en: 'The two passwords do not match' }],
  WrongOriginalPassword: [200, { zh: '原密码错误', en: 'The current password is wrong' }],
  UsernameTaken: [200, { zh: '用户名已被占用', en: 'The username is already taken' }],
  UserUnknown: [404, UNKNOWN_OBJECTS.user],
  UserExists: [200, { zh: '用户已存在', en: 'The user already exists' }],
  RoleTooHigh: [
    200,
    {
      zh: '无权操作审计员，以及同级别或更高级别的用户',
      en: 'You cannot manage auditors, or users of the same or a higher level',
    },
  ],
  OnlySuperAdminPromotes: [
    200,
    {
      zh: '只有超级管理员可以任命管理员或审计员',
      en: 'Only a super admin can appoint admins and auditors',
    },
  ],
  OnlySuperAdminErases: [
    200,
    {
      zh: '只有超级管理员可以抹除用户的个人数据',
      en: 'Only a super admin can erase the personal data of a user',
    },
  ],
  ErasedNameDiffers: [
    200,
    {
      zh: '请输入该用户的用户名以确认抹除！',
      en: 'Type the username of the user to confirm the erasure',
    },
  ],
  SuperAdminProtected: [
    200,
    {
      zh: '无法禁用、删除或降级超级管理员用户',
      en: 'A super admin cannot be disabled, deleted or demoted',
    },
  ],
  GroupUnknown: [200, { zh: '分组不存在', en: 'The group does not exist' }],
  LoginVoid: [
    401,
    {
      zh: '登录状态已失效，请重新登录！',
      en: 'Your login is no longer valid. Sign in again to continue',
    },
  ],
  PasswordUnchanged: [
    200,
    {
      zh: '新密码不能与当前的临时密码相同',
      en: 'Choose a password that differs from the temporary one',
    },
  ],
  OwnPasswordElsewhere: [
    200,
    {
      zh: '请在个人设置中修改自己的密码',
      en: 'Change your own password in your personal settings',
    },
  ],
} satisfies ErrorCatalogue<string>

export const userError = errorsOf(USER_ERRORS)

const IDENTITY_NAMES: Record<IdentityProvider, TranslatedText> = {
  email: { zh: '邮箱地址', en: 'mail address' },
  github: { zh: ' GitHub 账户', en: 'GitHub account' },
  oidc: { zh: ' OIDC 账户', en: 'OIDC account' },
  linuxdo: { zh: ' LinuxDO 账户', en: 'LinuxDO account' },
  wechat: { zh: '微信账户', en: 'WeChat account' },
  telegram: { zh: ' Telegram 账户', en: 'Telegram account' },
}

const identityName = (provider: unknown): TranslatedText =>
  Object.entries(IDENTITY_NAMES).find(([name]) => name === provider)?.[1] ?? IDENTITY_NAMES.email
