import type { SnapshotCodec } from '../shared/decider.ts'
import { fromWire, toWire, type WireQuota } from '../shared/quota.ts'
import { type AccountState, type OpenCall, restoredEndedCalls } from './state.ts'

type StoredCall = Omit<OpenCall, 'hold'> & { readonly hold: WireQuota }

type StoredBudget = readonly [
  tokenId: number,
  remain: WireQuota,
  isUnlimited: boolean,
  emptiedAt: number,
  edits: number,
]

type Stored = {
  readonly balance: WireQuota
  readonly held: WireQuota
  readonly admissions: number
  readonly emptiedAt: number
  readonly budgets: readonly StoredBudget[]
  readonly open: readonly StoredCall[]
  readonly ended: { readonly ids: readonly string[]; readonly forgottenUpTo: string }
  readonly grantIds: readonly string[]
  readonly deductionIds: readonly string[]
  readonly affiliate: WireQuota
  readonly inviteeIds: readonly number[]
  readonly transferIds: readonly string[]
  readonly checkInDay: string
}

export const accountSnapshot: SnapshotCodec<AccountState> = {
  version: 5,
  encode: (state): Stored => ({
    balance: toWire(state.balance),
    held: toWire(state.held),
    admissions: state.admissions,
    emptiedAt: state.emptiedAt,
    budgets: [...state.budgets].map(([tokenId, { remain, isUnlimited, emptiedAt, edits }]) => [
      tokenId,
      toWire(remain),
      isUnlimited,
      emptiedAt,
      edits,
    ]),
    open: [...state.open.values()].map((call) => ({ ...call, hold: toWire(call.hold) })),
    ended: { ids: [...state.ended.ids], forgottenUpTo: state.ended.forgottenUpTo },
    grantIds: [...state.grantIds],
    deductionIds: [...state.deductionIds],
    affiliate: toWire(state.affiliate),
    inviteeIds: [...state.inviteeIds],
    transferIds: [...state.transferIds],
    checkInDay: state.checkInDay,
  }),
  decode: (stored) => {
    const { balance, held, budgets, open, ended, grantIds, deductionIds } = stored as Stored
    const { admissions, emptiedAt, affiliate, inviteeIds } = stored as Stored
    const { transferIds, checkInDay } = stored as Stored
    return {
      balance: fromWire(balance),
      held: fromWire(held),
      admissions,
      emptiedAt,
      budgets: new Map(
        budgets.map(([tokenId, remain, isUnlimited, emptiedAt, edits]) => [
          tokenId,
          { remain: fromWire(remain), isUnlimited, emptiedAt, edits },
        ]),
      ),
      open: new Map(open.map((call) => [call.facts.call, { ...call, hold: fromWire(call.hold) }])),
      ended: restoredEndedCalls(ended.ids, ended.forgottenUpTo),
      grantIds: new Set(grantIds),
      deductionIds: new Set(deductionIds),
      affiliate: fromWire(affiliate),
      inviteeIds: new Set(inviteeIds),
      transferIds: new Set(transferIds),
      checkInDay,
    }
  },
}
