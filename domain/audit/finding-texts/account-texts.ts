import {
  type Amount,
  BALANCE_NAMES,
  type BalanceName,
  grantName,
} from './names-in-finding-texts.ts'

/** The texts of the findings about postings, balances and adjustments of accounts. */
export const ACCOUNT_TEXTS = {
  PostingsMissing: ({ type }: { type: string }) => ({
    zh: `${type} 没有记账分录`,
    en: `${type} has no postings`,
  }),
  PostingsUnexpected: ({ type }: { type: string }) => ({
    zh: `${type} 不应变动额度，但有记账分录`,
    en: `${type} must not move quota, but it has postings`,
  }),
  AmountNegative: (params: { type: string; field: string; amount: Amount }) => {
    const { type, field, amount } = params
    return {
      zh: `${type} 的 ${field} 为负：${amount}`,
      en: `${field} of ${type} is negative: ${amount}`,
    }
  },
  OwnerDiffers: ({ userId }: { userId: string }) => ({
    zh: `事件中的用户是 ${userId}，不是账户所有者`,
    en: `names user ${userId}, who is not the owner of the account`,
  }),
  PostingsDiffer: {
    zh: '记账分录与事件中的金额不一致',
    en: 'the postings differ from the amounts in the event',
  },
  PostsElsewhere: ({ account }: { account: string }) => ({
    zh: `记入了其他账户 ${account}`,
    en: `posts to ${account}, which is another account`,
  }),
  PostingAccountUnknown: { zh: '分录的账户名称无效', en: 'a posting has an invalid account name' },
  PostingsUnbalanced: ({ sum }: { sum: Amount }) => ({
    zh: `借贷不平，分录合计为 ${sum}`,
    en: `the postings add up to ${sum}, not 0`,
  }),
  HeldNegative: ({ held }: { held: Amount }) => ({
    zh: `账户的预扣为负：${held}`,
    en: `the holds of the account are negative: ${held}`,
  }),
  RewardsNegative: ({ rewards }: { rewards: Amount }) => ({
    zh: `账户的奖励为负：${rewards}`,
    en: `the rewards of the account are negative: ${rewards}`,
  }),
  BalanceDiffers: (params: { balance: BalanceName; recorded: Amount; expected: Amount }) => {
    const { balance, recorded, expected } = params
    return {
      zh: `事件记录的${BALANCE_NAMES[balance]}是 ${recorded}，按变动计算应为 ${expected}`,
      en:
        `${balance} is recorded as ${recorded}, ` +
        `but should be ${expected} according to the movements`,
    }
  },
  TrialBalanceNotZero: ({ sum }: { sum: Amount }) => ({
    zh: `所有账户合计为 ${sum}，应为 0`,
    en: `all accounts add up to ${sum}, not 0`,
  }),
  GrantRepeated: ({ grant }: { grant: string }) => ({
    zh: `${grantName(grant).zh}此前已记录过`,
    en: `${grantName(grant).en} was already recorded`,
  }),
  CheckInRepeated: ({ day }: { day: string }) => ({
    zh: `${day} 重复签到`,
    en: `a second check-in on ${day}`,
  }),
}
