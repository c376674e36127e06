import type { TranslatedText } from '#domain/shared/translated-text.ts'
import {
  type ErrorCatalogue,
  errorsOf,
  UNKNOWN_OBJECTS,
} from '#infra/http/http-error-class-and-catalogue.ts'
import { appendNames } from '../error-messages-for-invalid-values.ts'

const EXPIRED: TranslatedText = {
  zh: '令牌已过期，无法启用，请先修改令牌过期时间，或者设置为永不过期',
  en: 'The token has expired and cannot be enabled. Change its expiry or let it never expire',
}
const EXPIRED_ONES: TranslatedText = {
  zh: EXPIRED.zh,
  en: 'These tokens have expired. Change their expiry or let them never expire',
}
const EXHAUSTED: TranslatedText = {
  zh: '令牌可用额度已用尽，无法启用，请先修改令牌剩余额度，或者设置为无限额度',
  en: 'The token has no quota left. Add quota or make it unlimited',
}
const EXHAUSTED_ONES: TranslatedText = {
  zh: EXHAUSTED.zh,
  en: 'These tokens have no quota left. Add quota or make them unlimited',
}

export const TOKEN_ERRORS = {
  TokenUnknown: [
    404,
    ({ tokenId }) => {
      const { zh, en } = UNKNOWN_OBJECTS.token
      return tokenId === undefined
        ? { zh, en }
        : { zh: `${zh}：${tokenId}`, en: `${en}: ${tokenId}` }
    },
  ],
  TokenExists: [200, { zh: '令牌已存在', en: 'The token already exists' }],
  TokenExpired: [200, (params) => appendNames(params, EXPIRED, EXPIRED_ONES)],
  TokenExhausted: [200, (params) => appendNames(params, EXHAUSTED, EXHAUSTED_ONES)],
  TooManyTokens: [
    200,
    ({ limit = '' }) => ({
      zh: `令牌数量已达上限 ${limit}`,
      en: `You can have at most ${limit} tokens`,
    }),
  ],
  GroupNotUsable: [200, { zh: '无权使用该分组', en: 'You are not allowed to use this group' }],
  NoTokenChosen: [200, { zh: '请至少选择一个令牌！', en: 'Select at least one token' }],
  TokenNameRequired: [200, { zh: '令牌名称不能为空', en: 'The token name is required' }],
} satisfies ErrorCatalogue<string>

export const tokenError = errorsOf(TOKEN_ERRORS)
