import { type ErrorCatalogue, errorsOf } from '#infra/http/http-errors.ts'
import type { Words } from '#infra/http/language.ts'
import { appendNames } from '../validation-words.ts'

const EXPIRED: Words = {
  zh: '令牌已过期，无法启用，请先修改令牌过期时间，或者设置为永不过期',
  en: 'The token has expired: give it another expiry first, or let it never expire',
}
const EXPIRED_ONES: Words = {
  zh: EXPIRED.zh,
  en: 'Expired tokens need another expiry first, or to never expire',
}
const EXHAUSTED: Words = {
  zh: '令牌可用额度已用尽，无法启用，请先修改令牌剩余额度，或者设置为无限额度',
  en: 'The token has no quota left: give it more first, or make it unlimited',
}
const EXHAUSTED_ONES: Words = {
  zh: EXHAUSTED.zh,
  en: 'Tokens without quota left need more first, or to be unlimited',
}

/** What the tokens refuse. */
export const TOKEN_ERRORS = {
  TokenUnknown: [
    404,
    ({ tokenId }) =>
      tokenId === undefined
        ? { zh: '令牌不存在', en: 'No such token' }
        : { zh: `令牌不存在：${tokenId}`, en: `No such token: ${tokenId}` },
  ],
  TokenExists: [200, { zh: '令牌已存在', en: 'The token exists already' }],
  TokenExpired: [200, (params) => appendNames(params, EXPIRED, EXPIRED_ONES)],
  TokenExhausted: [200, (params) => appendNames(params, EXHAUSTED, EXHAUSTED_ONES)],
  TooManyTokens: [
    200,
    ({ limit = '' }) => ({
      zh: `令牌数量已达上限 ${limit}`,
      en: `You can have at most ${limit} tokens`,
    }),
  ],
  GroupNotUsable: [200, { zh: '无权使用该分组', en: 'You can not use this group' }],
  NoTokenChosen: [200, { zh: '请至少选择一个令牌！', en: 'Select at least one token' }],
  TokenNameRequired: [200, { zh: '令牌名称不能为空', en: 'The token name is required' }],
} satisfies ErrorCatalogue<string>

export const tokenError = errorsOf(TOKEN_ERRORS)
