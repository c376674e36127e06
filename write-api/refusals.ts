import type { AccountRefusalCode } from '#domain/account/commands.ts'
import type { CredentialsRefusalCode } from '#domain/credentials/decide.ts'
import type { IdentityRefusalCode } from '#domain/identity/decide.ts'
import type { MessageRefusalCode } from '#domain/message/decide.ts'
import type { RedemptionRefusalCode } from '#domain/redemption/decide.ts'
import type { SiteRefusalCode } from '#domain/site/decide.ts'
import type { TokenRefusalCode } from '#domain/token/decide.ts'
import type { TopUpRefusalCode } from '#domain/top-up/commands.ts'
import type { UsernameRefusalCode, UserRefusalCode } from '#domain/user/commands.ts'
import { HttpRefusal } from '#infra/http/faults.ts'
import { CHANNEL_REFUSALS, type ChannelCode } from './channels/channel-refusals.ts'
import {
  CREDENTIALS_REFUSALS,
  type CredentialsActionRefusalCode,
} from './credentials/refusal-words.ts'
import { faultWords } from './fault-words.ts'
import { MAIL_REFUSALS, type MailRefusalCode } from './mail/mail-refusals.ts'
import { MESSAGE_REFUSALS, type MessageActionRefusalCode } from './messages/message-refusals.ts'
import { OAUTH_REFUSALS, type OAuthRefusalCode } from './oauth/oauth-refusals.ts'
import { OPTION_REFUSALS, type OptionCode } from './options/option-refusals.ts'
import {
  REDEMPTION_REFUSALS,
  type RedemptionActionRefusalCode,
} from './redemption/redemption-refusals.ts'
import type { Details, Refusals } from './refusal-table.ts'
import { ENTRY_REFUSALS, type EntryRefusalCode } from './session/entry-refusals.ts'
import { TOKEN_REFUSALS } from './tokens/token-refusals.ts'
import { TOP_UP_REFUSALS, type TopUpActionRefusalCode } from './top-up/top-up-refusals.ts'
import { ACCOUNT_REFUSALS, type RewardRefusalCode } from './users/account-refusals.ts'
import { IDENTITY_REFUSALS, type IdentityActionRefusalCode } from './users/identity-refusals.ts'
import { PASSWORD_REFUSALS } from './users/password-refusals.ts'

/** What actions refuse themselves, before or beside a decision of the domain. */
type ActionRefusalCode =
  | 'SetupTokenRequired'
  | 'UsernameRequired'
  | 'UsernameInvalid'
  | 'UsernameUnseen'
  | 'UsernameIsMail'
  | 'UsernameTooLong'
  | 'UserFieldsRequired'
  | 'PasswordTooShort'
  | 'PasswordTooLong'
  | 'PasswordsDiffer'
  | 'WrongCredentials'
  | 'WrongOriginalPassword'
  | 'OwnPasswordElsewhere'
  | 'PasswordUnchanged'
  | 'UserBanned'
  | 'UserDeactivated'
  | 'PasswordLoginDisabled'
  | 'TokenNameRequired'
  | 'NoTokenChosen'
  | 'GroupUnknown'
  | 'GroupNotUsable'
  | 'WebhookUrlInvalid'
  | 'WebhookSecretInvalid'
  | 'ErasedNameDiffers'

export type RefusalCode =
  | AccountRefusalCode
  | RewardRefusalCode
  | ChannelCode
  | IdentityRefusalCode
  | IdentityActionRefusalCode
  | CredentialsRefusalCode
  | CredentialsActionRefusalCode
  | OptionCode
  | SiteRefusalCode
  | RedemptionRefusalCode
  | RedemptionActionRefusalCode
  | TokenRefusalCode
  | TopUpRefusalCode
  | TopUpActionRefusalCode
  | UserRefusalCode
  | UsernameRefusalCode
  | MailRefusalCode
  | MessageRefusalCode
  | MessageActionRefusalCode
  | EntryRefusalCode
  | OAuthRefusalCode
  | ActionRefusalCode

const REFUSALS: Refusals<RefusalCode> = {
  ...CREDENTIALS_REFUSALS,
  ...MAIL_REFUSALS,
  ...MESSAGE_REFUSALS,
  ...ACCOUNT_REFUSALS,
  ...CHANNEL_REFUSALS,
  ...OPTION_REFUSALS,
  ...TOKEN_REFUSALS,
  ...REDEMPTION_REFUSALS,
  ...TOP_UP_REFUSALS,
  ...IDENTITY_REFUSALS,
  ...PASSWORD_REFUSALS,
  ...ENTRY_REFUSALS,
  ...OAUTH_REFUSALS,
  AlreadyInitialized: [200, { zh: '系统已经初始化完成', en: 'The system is already initialised' }],
  SetupTokenRequired: [
    200,
    {
      zh: '从其他设备初始化需要启动时打印的一次性令牌',
      en: 'Setting up from another machine needs the one-time token printed at start',
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
      en: 'The username must not contain control characters or invisible ones',
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
  WrongCredentials: [200, { zh: '用户名或密码错误', en: 'Wrong username or password' }],
  WrongOriginalPassword: [200, { zh: '原密码错误', en: 'The current password is wrong' }],
  UserBanned: [200, { zh: '用户已被封禁', en: 'This user has been banned' }],
  UserDeactivated: [200, { zh: '用户已注销', en: 'This user has been deactivated' }],
  PasswordLoginDisabled: [
    200,
    { zh: '管理员关闭了密码登录', en: 'The administrator has disabled password login' },
  ],
  UsernameTaken: [200, { zh: '用户名已被占用', en: 'The username is already taken' }],
  UserUnknown: [404, { zh: '用户不存在', en: 'No such user' }],
  UserExists: [200, { zh: '用户已存在', en: 'The user exists already' }],
  RoleTooHigh: [
    200,
    {
      zh: '无权操作同级别或更高级别的用户',
      en: 'You can not act on users of the same or a higher level',
    },
  ],
  OnlySuperAdminPromotes: [
    200,
    {
      zh: '普通管理员用户无法提升其他用户为管理员',
      en: 'Only a super admin can promote to admin',
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
      en: 'A super admin can not be disabled, deleted or demoted',
    },
  ],
  GroupUnknown: [200, { zh: '分组不存在', en: 'No such group' }],
  GroupNotUsable: [200, { zh: '无权使用该分组', en: 'You can not use this group' }],
  NoTokenChosen: [200, { zh: '请至少选择一个令牌！', en: 'Select at least one token' }],
  TokenNameRequired: [200, { zh: '令牌名称不能为空', en: 'The token name is required' }],
  NameRequired: [200, { zh: '名称不能为空', en: 'The name is required' }],
  // NOTE: the same words whatever is at the address, here too.
  WebhookUrlInvalid: [
    200,
    {
      zh: 'Webhook 地址无效：仅支持 https 的公网地址',
      en: 'Not a webhook address: https and a public address, on port 443',
    },
  ],
  WebhookSecretInvalid: [
    200,
    {
      zh: '接口凭证（webhook_secret）无效：只能包含英文字母、数字和半角符号',
      en: 'Invalid webhook_secret: only printable ASCII characters, as it is sent in a header',
    },
  ],
  InvalidField: [
    400,
    ({ field = '', ...details }) => {
      const { zh, en } = faultWords(details)
      return { zh: `参数 ${field} 无效：${zh}`, en: `Invalid field ${field}: ${en}` }
    },
  ],
}

/** The error that answers a refusal; throw it. */
export function refused(code: RefusalCode, details: Details = {}): HttpRefusal {
  const [status, wording] = REFUSALS[code]
  return new HttpRefusal(status, code, typeof wording === 'function' ? wording(details) : wording)
}
