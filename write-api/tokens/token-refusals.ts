import type { TokenRefusalCode } from '#domain/token/refusals.ts'
import type { Refusals } from '../refusals.ts'

/** What the tokens refuse; a name is refused in the same words everywhere. */
export const TOKEN_REFUSALS: Refusals<Exclude<TokenRefusalCode, 'NameRequired'>> = {
  TokenUnknown: [
    404,
    ({ tokenId }) =>
      tokenId === undefined
        ? { zh: '令牌不存在', en: 'No such token' }
        : { zh: `令牌不存在：${tokenId}`, en: `No such token: ${tokenId}` },
  ],
  TokenExists: [200, { zh: '令牌已存在', en: 'The token exists already' }],
  TokenExpired: [
    200,
    ({ names }) =>
      names === undefined
        ? {
            zh: '令牌已过期，无法启用，请先修改令牌过期时间，或者设置为永不过期',
            en: 'The token has expired: give it another expiry first, or let it never expire',
          }
        : {
            zh: `令牌已过期，无法启用，请先修改令牌过期时间，或者设置为永不过期：${names}`,
            en: `Expired tokens need another expiry first, or to never expire: ${names}`,
          },
  ],
  TokenExhausted: [
    200,
    ({ names }) =>
      names === undefined
        ? {
            zh: '令牌可用额度已用尽，无法启用，请先修改令牌剩余额度，或者设置为无限额度',
            en: 'The token has no quota left: give it more first, or make it unlimited',
          }
        : {
            zh: `令牌可用额度已用尽，无法启用，请先修改令牌剩余额度，或者设置为无限额度：${names}`,
            en: `Tokens without quota left need more first, or to be unlimited: ${names}`,
          },
  ],
  TooManyTokens: [
    200,
    ({ limit = '' }) => ({
      zh: `令牌数量已达上限 ${limit}`,
      en: `You can have at most ${limit} tokens`,
    }),
  ],
}
