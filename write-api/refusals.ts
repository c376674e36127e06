import type { AccountRefusalCode } from '#domain/account/refusals.ts'
import type { ChannelRefusalCode } from '#domain/channel/refusals.ts'
import type { OptionsRefusalCode } from '#domain/options/refusals.ts'
import type { Refusal } from '#domain/shared/refusal.ts'
import type { SiteRefusalCode } from '#domain/site/refusals.ts'
import type { TokenRefusalCode } from '#domain/token/refusals.ts'
import type { UsernameRefusalCode, UserRefusalCode } from '#domain/user/refusals.ts'
import { HttpRefusal } from '#infra/http/http-refusal.ts'
import type { Words } from '#infra/http/language.ts'
import { faultWords } from './fault-words.ts'

/** What acts refuse themselves, before or beside a decision of the domain. */
type ActRefusalCode =
  | 'SetupTokenRequired'
  | 'UsernameRequired'
  | 'UsernameInvalid'
  | 'UsernameTooLong'
  | 'UserFieldsRequired'
  | 'PasswordTooShort'
  | 'PasswordTooLong'
  | 'PasswordsDiffer'
  | 'WrongCredentials'
  | 'WrongOriginalPassword'
  | 'UserBanned'
  | 'PasswordLoginDisabled'
  | 'TokenNameRequired'
  | 'TooManyTokens'
  | 'GroupUnknown'
  | 'GroupNotUsable'
  | 'ChannelFieldsRequired'
  | 'AddressNotAllowed'
  | 'OptionNotYours'

export type RefusalCode =
  | AccountRefusalCode
  | ChannelRefusalCode
  | OptionsRefusalCode
  | SiteRefusalCode
  | TokenRefusalCode
  | UserRefusalCode
  | UsernameRefusalCode
  | ActRefusalCode

type Details = NonNullable<Refusal['details']>
type Wording = Words | ((details: Details) => Words)

/** HTTP status and words of every refusal. 200: a rule of the business said no. */
const REFUSALS: Record<RefusalCode, readonly [status: number, Wording]> = {
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
    { zh: '用户名不能包含空白或控制字符', en: 'The username must not contain spaces' },
  ],
  UsernameTooLong: [
    200,
    { zh: '用户名长度不得超过 64 位！', en: 'The username must have at most 64 characters' },
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
    { zh: '密码长度不得超过 128 字节', en: 'The password must have at most 128 bytes' },
  ],
  PasswordsDiffer: [200, { zh: '两次输入的密码不一致', en: 'The two passwords do not match' }],
  WrongCredentials: [200, { zh: '用户名或密码错误', en: 'Wrong username or password' }],
  WrongOriginalPassword: [200, { zh: '原密码错误', en: 'The current password is wrong' }],
  UserBanned: [200, { zh: '用户已被封禁', en: 'This user has been banned' }],
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
  SuperAdminProtected: [
    200,
    {
      zh: '无法禁用、删除或降级超级管理员用户',
      en: 'A super admin can not be disabled, deleted or demoted',
    },
  ],
  GroupUnknown: [200, { zh: '分组不存在', en: 'No such group' }],
  GroupNotUsable: [200, { zh: '无权使用该分组', en: 'You can not use this group' }],
  TokenUnknown: [404, { zh: '令牌不存在', en: 'No such token' }],
  TokenExists: [200, { zh: '令牌已存在', en: 'The token exists already' }],
  TokenNameRequired: [200, { zh: '令牌名称不能为空', en: 'The token name is required' }],
  TooManyTokens: [
    200,
    ({ limit = '' }) => ({
      zh: `令牌数量已达上限 ${limit}`,
      en: `You already have ${limit} tokens, which is the limit`,
    }),
  ],
  NameRequired: [200, { zh: '名称不能为空', en: 'The name is required' }],
  ChannelFieldsRequired: [
    200,
    { zh: '请填写渠道名称和渠道密钥！', en: 'Channel name and channel key are required' },
  ],
  // NOTE: the same words whatever is at the address, or they would map a private network.
  AddressNotAllowed: [
    200,
    {
      zh: '参数 base_url 无效：不允许使用该地址（内网地址须列入 PRIVATE_UPSTREAMS）',
      en: 'Invalid field base_url: not an allowed address (PRIVATE_UPSTREAMS lists private ones)',
    },
  ],
  ChannelUnknown: [
    404,
    { zh: '渠道未找到，请刷新页面后重试。', en: 'Channel not found, please refresh the page.' },
  ],
  ChannelExists: [200, { zh: '渠道已存在', en: 'The channel exists already' }],
  ModelsRequired: [200, { zh: '请至少选择一个模型！', en: 'Choose at least one model' }],
  KeyRequired: [
    200,
    {
      zh: '请填写密钥：更改渠道类型、地址或代理时必须重新填写',
      en: 'Enter the key: a new type, address or proxy of a channel needs it again',
    },
  ],
  InvalidField: [
    400,
    ({ field = '', ...details }) => {
      const { zh, en } = faultWords(details)
      return { zh: `参数 ${field} 无效：${zh}`, en: `Invalid field ${field}: ${en}` }
    },
  ],
  UnknownOption: [
    400,
    ({ key = '' }) => ({ zh: `未知的选项：${key}`, en: `Unknown option: ${key}` }),
  ],
  InvalidOption: [
    400,
    ({ key = '', ...details }) => {
      const { zh, en } = faultWords(details)
      return { zh: `选项 ${key} 无效：${zh}`, en: `Invalid option ${key}: ${en}` }
    },
  ],
  OptionNotYours: [
    403,
    ({ key = '' }) => ({
      zh: `只有超级管理员可以修改选项 ${key}`,
      en: `Only a super admin can change the option ${key}`,
    }),
  ],
  InsufficientQuota: [200, { zh: '用户额度不足', en: 'The user’s quota is not enough' }],
  AmountOutOfRange: [200, { zh: '额度超出允许范围', en: 'The quota is out of range' }],
  TokenBudgetExhausted: [200, { zh: '令牌额度已用尽', en: 'The token’s quota is used up' }],
  TokenBudgetUnknown: [404, { zh: '令牌不存在', en: 'No such token' }],
  CallUnknown: [404, { zh: '调用不存在', en: 'No such call' }],
  CallEnded: [200, { zh: '调用已结束', en: 'The call is over' }],
  LeaseNotOver: [200, { zh: '调用仍在进行', en: 'The call is still running' }],
}

/** The error that answers a refusal; throw it. */
export function refused(code: RefusalCode, details: Details = {}): HttpRefusal {
  const [status, wording] = REFUSALS[code]
  return new HttpRefusal(status, code, typeof wording === 'function' ? wording(details) : wording)
}
