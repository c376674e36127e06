import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { optionFlag, optionInteger } from '#domain/options/registry.ts'
import type { AnyStep } from '#infra/event-store/actors-port.ts'
import { idOfCode } from '#infra/vault/id-code.ts'
import { allOptions } from '#projections/options/query.ts'
import { findUser } from '#projections/users/query.ts'
import type { Deps } from '../act.ts'

/**
 * Whose invite code it is. null when it is nobody's, or of somebody who is banned or gone, and
 * while invitations are off: a registration goes on without an inviter then.
 */
export async function inviterOf(
  { core }: Pick<Deps, 'core'>,
  affCode: string,
): Promise<number | null> {
  const id = idOfCode(core.vault, affCode)
  if (id === null) return null
  const { values } = await allOptions(core.db)
  if (!optionFlag(values, 'AffEnabled')) return null
  const inviter = await findUser(core.db, id)
  return inviter === null || inviter.isDeleted || inviter.status !== 1 ? null : inviter.id
}

/**
 * What the append that creates `inviteeId` has to hold besides: the inviter's reward, on the
 * affiliate balance, and the new user's. Once per invitee, however often they are carried out.
 * No steps without an inviter.
 */
export async function inviteSteps(
  { core }: Pick<Deps, 'core'>,
  { inviterId, inviteeId }: { readonly inviterId: number | null; readonly inviteeId: number },
): Promise<AnyStep[]> {
  if (inviterId === null) return []
  const { values } = await allOptions(core.db)
  const reward = BigInt(optionInteger(values, 'QuotaForInviter'))
  const gift = BigInt(optionInteger(values, 'QuotaForInvitee'))
  const step = (userId: number, command: object): AnyStep => ({
    decider: accountDecider,
    stream: accountStream(userId),
    command: { userId, ...command },
  })
  const steps = [step(inviterId, { type: 'RewardInvite', inviteeId, reward })]
  if (gift > 0n) {
    const grant = { type: 'GrantQuota', grantId: 'invited', amount: gift, reason: 'invited' }
    steps.push(step(inviteeId, grant))
  }
  return steps
}
