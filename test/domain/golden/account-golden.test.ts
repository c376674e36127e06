import { describe, expect, it } from 'vitest'
import type { AccountCommand, CorrectCharges } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import type { AccountEvent } from '#domain/accounts/events.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { deciderWithoutBalances } from '../accounts/facts.ts'
import { golden, story } from './story.ts'

const CALL = '019ab0de-2c00-7000-8000-0000000000a1'
const NOW = 1_795_248_000_000
const PRICE: PriceSnapshot = {
  mode: 'tokens',
  list: 12,
  model: '1.25',
  completion: '4',
  cacheRead: '0.5',
  cacheWrite: '1',
  image: '1',
  audio: '1',
  audioCompletion: '1',
  group: '0.8',
}
const TIERED: PriceSnapshot = {
  ...PRICE,
  tiers: [{ above: 900, input: '2', output: '1.5' }],
  tools: { web_search: '10' },
}
const BY_CALL: PriceSnapshot = { mode: 'call', list: 12, price: '0.04', group: '1' }
const timings = { startedAt: NOW, firstByteMs: 120, durationMs: 900 }
const attempts = [
  { channelId: 4, status: 503, error: 'status', latencyMs: 40 },
  { channelId: 5, status: 200, error: null, latencyMs: 860 },
]
const usage = { ...NO_USAGE, inputUncached: 400, cacheRead: 600, output: 500, reasoning: 100 }

const grant: AccountCommand = {
  type: 'GrantQuota',
  userId: 7,
  grantId: 'grant-1',
  amount: 500_000n,
  reason: 'setup',
}
const setBudget: AccountCommand = {
  type: 'SetTokenBudget',
  userId: 7,
  tokenId: 3,
  remain: 200_000n,
  isUnlimited: false,
}
const admit = {
  type: 'AdmitCall',
  userId: 7,
  call: CALL,
  tokenId: 3,
  model: 'gpt-4o',
  group: 'default',
  isStream: true,
  hold: 5_000n,
  price: PRICE,
  leaseUntil: NOW + 60_000,
  clientIp: 'sealed:ip' as Sealed,
  startedAt: NOW,
} as const
const reduction = {
  bounds: { inputTokens: 500, outputTokens: 100_000, choices: 1 },
  leastOutputTokens: 256,
  mostOutputTokens: 100_000,
}
const progress = {
  type: 'RecordProgress',
  call: CALL,
  channelId: 5,
  usage: { ...usage, output: 100, reasoning: 0 },
  leaseUntil: NOW + 90_000,
} as const
const settle: Extract<AccountCommand, { type: 'SettleCall' }> = {
  type: 'SettleCall',
  call: CALL,
  channelId: 5,
  upstreamModel: 'gpt-4o-2024-08-06',
  usage,
  usageSource: 'upstream',
  anomaly: null,
  end: 'done',
  attempts,
  timings,
}
const release: AccountCommand = {
  type: 'ReleaseCall',
  call: CALL,
  channelId: null,
  reason: 'no-channel',
  errorCode: 'no_channel',
  statusCode: 503,
  attempts: [],
  timings: { ...timings, firstByteMs: null },
}
const admitted = [
  ['quota-granted-v1', grant],
  ['token-budget-set-v1', setBudget],
  ['call-admitted-v1', admit],
] as const

const byHand = { userId: 7, reason: 'admin', note: 'sealed:why' as Sealed } as const

const account = (balance: number, remain: number) => ({
  balance,
  held: 0,
  admissions: 1,
  emptiedAt: 0,
  budgets: [[3, remain, false, 0, 1]],
  open: [],
  ended: { ids: [CALL], forgottenUpTo: '' },
  grantIds: ['grant-1'],
  deductionIds: [],
  affiliate: 0,
  inviteeIds: [],
  transferIds: [],
  checkInDay: '',
})

/** A state in which no call was admitted. */
const UNCALLED = { admissions: 0, ended: { ids: [], forgottenUpTo: '' } }

describe('the account’s events, as first recorded', () => {
  story(
    'a call that is settled after progress',
    deciderWithoutBalances,
    [...admitted, ['call-progressed-v1', progress], ['call-settled-v1', settle]],
    account(497_300, 197_300),
  )
  const evidence = {
    ...{ sentAt: 1_795_248_000_040, hostHash: '0123456789abcdef' },
    ...{ requestId: 'req_1', model: 'gpt-4o-2024-08-06' },
  }
  const hosted = attempts.map((one) => (one.status === 200 ? { ...one, evidence } : one))
  story(
    'a call with the hash of the host that answered',
    deciderWithoutBalances,
    [
      ...admitted,
      ['call-progressed-v1', progress],
      ['call-settled-hosted-v1', { ...settle, attempts: hosted }],
    ],
    account(497_300, 197_300),
  )
  const costRatio = '0.6'
  story(
    'a call whose provider’s price is known, settled after progress',
    deciderWithoutBalances,
    [
      ...admitted,
      ['call-progressed-costed-v1', { ...progress, costRatio }],
      ['call-settled-costed-v1', { ...settle, costRatio }],
    ],
    account(497_300, 197_300),
  )
  story(
    'a call whose provider’s price is known, interrupted at its last progress',
    deciderWithoutBalances,
    [
      ...admitted,
      ['call-progressed-costed-v1', { ...progress, costRatio }],
      ['call-interrupted-costed-v1', { type: 'InterruptCall', call: CALL, at: NOW + 90_001 }],
    ],
    account(498_900, 198_900),
  )
  story(
    'a call that an earlier version let continue under a lowered budget, and that is released',
    deciderWithoutBalances,
    [...admitted, ['token-budget-set-keeping-calls-v1', null], ['call-released-v1', release]],
    { ...account(500_000, 1_000), budgets: [[3, 1_000, false, 0, 2]] },
  )
  story(
    'a call whose hold is raised, and which is released',
    deciderWithoutBalances,
    [
      ...admitted,
      ['hold-raised-v1', { type: 'RaiseHold', call: CALL, hold: 7_000n, least: 5_001n }],
      ['call-released-raised-v1', release],
    ],
    account(500_000, 200_000),
  )
  story(
    'events that name the balance and the held quota after them',
    accountDecider,
    [['quota-granted-balances-v1', grant]],
    { ...account(500_000, 0), ...UNCALLED, budgets: [] },
  )
  const limited = [
    ['quota-granted-v1', grant],
    ['token-budget-set-v1', setBudget],
    ['call-admitted-limited-v1', { ...admit, hold: 400_500n, reduction }],
  ] as const
  story(
    'a call that is admitted with a smaller output limit, and of which not all could be paid',
    deciderWithoutBalances,
    [
      ...limited,
      [
        'call-settled-partly-unpaid-v1',
        {
          ...settle,
          usage: { ...usage, output: 100_000 },
          limits: { inputTokens: 500, outputTokens: 24_000 },
          anomaly: 'absurd',
        },
      ],
    ],
    account(300_000, 0),
  )
  story(
    'an earlier call of which not all could be paid, charged for no more than its limits',
    deciderWithoutBalances,
    [...limited, ['call-settled-unpaid-v1', null]],
    account(403_500, 103_500),
  )
  story(
    'a call that is released',
    deciderWithoutBalances,
    [...admitted, ['call-released-v1', release]],
    account(500_000, 200_000),
  )
  story(
    'a call that is interrupted at its last progress',
    deciderWithoutBalances,
    [
      ...admitted,
      ['call-progressed-v1', progress],
      ['call-interrupted-v1', { type: 'InterruptCall', call: CALL, at: NOW + 90_001 }],
    ],
    account(498_900, 198_900),
  )
  story(
    'a price per call, done without a token',
    deciderWithoutBalances,
    [
      ['quota-granted-v1', grant],
      ['token-budget-set-v1', setBudget],
      ['call-admitted-per-call-v1', { ...admit, price: BY_CALL, calls: 2, hold: 40_000n }],
      ['call-settled-per-call-v1', { ...settle, usage: NO_USAGE, usageSource: 'estimated' }],
    ],
    account(460_000, 160_000),
  )
  story(
    'a price per call, interrupted after fewer choices were sent than requested',
    deciderWithoutBalances,
    [
      ['quota-granted-v1', grant],
      ['token-budget-set-v1', setBudget],
      ['call-admitted-per-call-v1', { ...admit, price: BY_CALL, calls: 2, hold: 40_000n }],
      ['call-progressed-per-call-v1', { ...progress, calls: 1 }],
      ['call-interrupted-per-call-v1', { type: 'InterruptCall', call: CALL, at: NOW + 90_001 }],
    ],
    account(480_000, 180_000),
  )
  const usedTools = { toolCalls: 3, tools: { web_search: 3 } }
  story(
    'a call with a context tier and with tools that the provider ran',
    deciderWithoutBalances,
    [
      ['quota-granted-v1', grant],
      ['token-budget-set-v1', setBudget],
      ['call-admitted-tools-v1', { ...admit, price: TIERED, hold: 60_000n }],
      ['call-settled-tools-v1', { ...settle, usage: { ...usage, ...usedTools } }],
    ],
    account(483_600, 183_600),
  )
  const ofTask = { model: 'mj_imagine', isStream: false, price: BY_CALL, hold: 20_000n } as const
  const { type: _, hold, task, ...opened } = { ...admit, ...ofTask, task: { openMax: 1 } }
  const { userId, call, tokenId, model, group, isStream, ...terms } = opened
  const facts = { call, userId, tokenId, model, group, isStream }
  story(
    'a call in progress that pays for a task',
    deciderWithoutBalances,
    [
      ['quota-granted-v1', grant],
      ['token-budget-set-v1', setBudget],
      ['call-admitted-task-v1', { type: 'AdmitCall', hold, task, ...opened }],
    ],
    {
      ...account(480_000, 180_000),
      held: 20_000,
      open: [{ facts, admission: 1, ...terms, hold: 20_000, isTask: true, progress: null }],
      ended: { ids: [], forgottenUpTo: '' },
    },
  )
  const second = { ...opened, call: CALL.replace('a1', 'a2'), model: 'mj_modal' }
  story(
    'a modal step of a task',
    deciderWithoutBalances,
    [
      ['quota-granted-v1', grant],
      ['token-budget-set-v1', setBudget],
      ['call-admitted-task-v1', { type: 'AdmitCall', hold, task, ...opened }],
      [
        'call-admitted-step-v1',
        { type: 'AdmitCall', hold, task: { openMax: 2, stepOf: CALL }, ...second },
      ],
    ],
    {
      ...{ ...account(460_000, 160_000), admissions: 2 },
      held: 40_000,
      open: [
        { facts, admission: 1, ...terms, hold: 20_000, isTask: true, progress: null },
        {
          ...{ facts: { ...facts, call: second.call, model: 'mj_modal' }, admission: 2, ...terms },
          ...{ hold: 20_000, isTask: true, stepOf: CALL, progress: null },
        },
      ],
      ended: { ids: [], forgottenUpTo: '' },
    },
  )
  story(
    'a deduction, and a budget that is closed',
    deciderWithoutBalances,
    [
      ['quota-granted-v1', grant],
      ['token-budget-set-v1', setBudget],
      [
        'quota-deducted-v1',
        {
          type: 'DeductQuota',
          userId: 7,
          deductionId: 'deduction-1',
          amount: 100_000n,
          reason: 'admin',
        },
      ],
      ['token-budgets-closed-v1', { type: 'CloseTokenBudgets', userId: 7, tokenIds: [3] }],
    ],
    {
      ...account(400_000, 0),
      budgets: [],
      ...UNCALLED,
      deductionIds: ['deduction-1'],
    },
  )
  story(
    'charges that were corrected, as far as the balance covers them',
    deciderWithoutBalances,
    [
      ['quota-granted-v1', grant],
      ['token-budget-set-v1', setBudget],
      [
        'charge-corrected-v1',
        {
          type: 'CorrectCharges',
          ...{ userId: 7, correctionId: 'c1', batch: 0, model: 'gpt-4o' },
          calls: [
            { call: CALL, tokenId: 3, charge: 3_200n, corrected: 1_600n },
            {
              call: '019ab0de-2c00-7000-8000-0000000000a2',
              tokenId: 9,
              charge: 100n,
              corrected: 600_000n,
            },
          ],
        } as unknown as CorrectCharges,
      ],
    ],
    {
      ...account(0, 201_600),
      ...UNCALLED,
      emptiedAt: 0,
      deductionIds: ['correction:c1:0'],
    },
  )
  const place = { channelId: 4, group: 'default', isCosted: true }
  story(
    'charges that were corrected, with the place of each call in the sums',
    deciderWithoutBalances,
    [
      ['quota-granted-v1', grant],
      ['token-budget-set-v1', setBudget],
      [
        'charge-corrected-place-v1',
        {
          type: 'CorrectCharges',
          ...{ userId: 7, correctionId: 'c1', batch: 0, model: 'gpt-4o' },
          calls: [{ call: CALL, tokenId: 3, charge: 3_200n, corrected: 1_600n, ...place }],
        },
      ],
    ],
    {
      ...account(501_600, 201_600),
      ...UNCALLED,
      deductionIds: ['correction:c1:0'],
    },
  )
  story(
    'a code that was redeemed',
    deciderWithoutBalances,
    [
      [
        'quota-granted-redeemed-v1',
        { ...grant, grantId: 'redemption-3', reason: 'redemption' } as AccountCommand,
      ],
    ],
    {
      ...account(500_000, 0),
      budgets: [],
      ...UNCALLED,
      grantIds: ['redemption-3'],
    },
  )
  story(
    'changes by hand, with the reason given',
    deciderWithoutBalances,
    [
      ['quota-granted-v1', grant],
      [
        'quota-granted-noted-v1',
        { type: 'GrantQuota', grantId: 'grant-2', amount: 300_000n, ...byHand },
      ],
      [
        'quota-deducted-noted-v1',
        { type: 'DeductQuota', deductionId: 'deduction-2', amount: 100_000n, ...byHand },
      ],
    ],
    {
      ...account(700_000, 0),
      budgets: [],
      ...UNCALLED,
      grantIds: ['grant-1', 'grant-2'],
      deductionIds: ['deduction-2'],
    },
  )
  story(
    'budgets of tokens that were created together',
    deciderWithoutBalances,
    [
      [
        'token-budgets-opened-v1',
        {
          type: 'OpenTokenBudgets',
          userId: 7,
          tokenIds: [3, 4],
          remain: 200_000n,
          isUnlimited: true,
        },
      ],
    ],
    {
      ...account(0, 0),
      budgets: [
        [3, 200_000, true, 0, 0],
        [4, 200_000, true, 0, 0],
      ],
      ...UNCALLED,
      grantIds: [],
    },
  )

  story(
    'an invitation, a transfer of what it brought, and a check-in',
    deciderWithoutBalances,
    [
      ['invite-rewarded-v1', { type: 'RewardInvite', userId: 7, inviteeId: 9, reward: 50_000n }],
      [
        'affiliate-transferred-v1',
        {
          type: 'TransferAffiliate',
          userId: 7,
          transferId: 'transfer-1',
          amount: 30_000n,
          least: 30_000n,
        },
      ],
      ['checked-in-v1', { type: 'CheckIn', userId: 7, day: '2026-11-22', amount: 2_000n }],
    ],
    {
      ...account(32_000, 0),
      budgets: [],
      ...UNCALLED,
      grantIds: [],
      affiliate: 20_000,
      inviteeIds: [9],
      transferIds: ['transfer-1'],
      checkInDay: '2026-11-22',
    },
  )

  it('a single closed budget, in the form of earlier events', () => {
    const { initialState, evolve } = deciderWithoutBalances
    const set = evolve(initialState(), golden('token-budget-set-v1') as AccountEvent)
    expect(set.budgets.size).toBe(1)
    expect(evolve(set, golden('token-budget-closed-v1') as AccountEvent).budgets.size).toBe(0)
  })
})
