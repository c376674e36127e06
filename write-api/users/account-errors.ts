import {
  type ErrorCatalogue,
  errorsOf,
  UNKNOWN_OBJECTS,
} from '#infra/http/http-error-class-and-catalogue.ts'

export const ACCOUNT_ERRORS = {
  InsufficientQuota: [200, { zh: '用户额度不足', en: 'The user’s quota is insufficient' }],
  DeductionBeyondBalance: [
    200,
    ({ name = '', balance = '', needed = '' }) => ({
      zh: `${name} 的余额为 ${balance} 额度单位，不足以扣除 ${needed}`,
      en: `${name} has a balance of ${balance} quota units, which does not cover ${needed}`,
    }),
  ],
  RequestIdReused: [
    409,
    {
      zh: '该 request_id 已用于另一次调整（操作或数额不同）',
      en: 'This request_id was already used for an adjustment with another action or amount',
    },
  ],
  // `expected` is missing if the server does not know which balance the caller has read.
  BalanceMoved: [
    409,
    ({ balance = '', expected }) => ({
      zh:
        expected === undefined
          ? `余额可能已变动：当前为 ${balance}，未能确认提交时依据的余额。请重新读取用户，或改为增减额度`
          : `余额已变动：当前为 ${balance}，提交时依据的是 ${expected}。请重新读取用户，或改为增减额度`,
      en:
        expected === undefined
          ? `The balance is ${balance} and may have changed since you read it. Read it again`
          : `The balance is ${balance}, not ${expected}. Read it again, or add or deduct an amount`,
    }),
  ],
  AmountOutOfRange: [200, { zh: '额度超出允许范围', en: 'The quota is out of range' }],
  InsufficientAffiliate: [
    200,
    { zh: '邀请额度不足！', en: 'The invitation quota is insufficient' },
  ],
  TransferTooSmall: [
    200,
    ({ least = '' }) => ({
      zh: `划转金额最低为 ${least}`,
      en: `The minimum transfer is ${least}`,
    }),
  ],
  CheckInDisabled: [200, { zh: '管理员未启用签到', en: 'Check-in is not enabled' }],
  CheckedInAlready: [200, { zh: '今日已签到', en: 'You have already checked in today' }],
  TokenBudgetExhausted: [200, { zh: '令牌额度已用尽', en: 'The token’s quota is used up' }],
  TokenBudgetMoved: [
    409,
    ({ remain = '', expected }) => ({
      zh:
        expected === undefined
          ? `remain_quota 可能已被修改：当前为 ${remain}，未能确认提交时依据的额度。请重新读取令牌后再提交`
          : `remain_quota 已被修改：当前为 ${remain}，提交时依据的是 ${expected}。请重新读取令牌后再提交`,
      en:
        expected === undefined
          ? `remain_quota is ${remain} and may have changed since you read it. Read the token again`
          : `remain_quota was changed to ${remain} since it was ${expected}. Read the token again`,
    }),
  ],
  TokenBudgetUnknown: [404, UNKNOWN_OBJECTS.token],
  CallUnknown: [404, { zh: '调用不存在', en: 'The call does not exist' }],
  CallKnown: [200, { zh: '调用已在进行', en: 'The call is already running' }],
  TooManyTasks: [200, { zh: '未完成的任务过多', en: 'Too many tasks are unfinished' }],
  StepOpen: [200, { zh: '该任务的上一步仍在进行', en: 'Another step of the task is running' }],
  StepTooLate: [200, { zh: '该任务已结束', en: 'The task of this step has ended' }],
  TooManyBatches: [200, { zh: '未完成的批处理过多', en: 'Too many batches are unfinished' }],
  CallEnded: [200, { zh: '调用已结束', en: 'The call has ended' }],
  LeaseNotOver: [200, { zh: '调用仍在进行', en: 'The call is still running' }],
} satisfies ErrorCatalogue<string>

export const accountError = errorsOf(ACCOUNT_ERRORS)
