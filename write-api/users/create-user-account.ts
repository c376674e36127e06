import type { FastifyRequest } from 'fastify'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { optionFlag, optionInteger } from '#domain/options/option-registry.ts'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Fact } from '#domain/shared/event.ts'
import { userDecider, usernameDecider } from '#domain/users/decide.ts'
import { type Role, usernameStream, userStream } from '#domain/users/events.ts'
import { isActiveUser } from '#domain/users/state.ts'
import type { AnyStep, CommandContext, Outcome } from '#infra/event-store/stream-actors-port.ts'
import { clientOf } from '#infra/http/command-context.ts'
import { idOfCode } from '#infra/vault/id-code.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Deps } from '../action.ts'
import type { WithId } from '../assign-next-id.ts'
import { bindSteps } from './bind-and-unbind-identities.ts'
import type { Identity } from './identity-key.ts'
import { storePassword } from './passwords.ts'
import { nameKeyOf } from './user-names.ts'

/**
 * Returns the id of the user to whom an invite code belongs. Returns null if the code is unknown,
 * the inviter is banned or deleted, or invitations are disabled. A new user can register without an
 * inviter.
 */
export async function inviterOf(
  { core }: Pick<Deps, 'core'>,
  affCode: string,
): Promise<number | null> {
  const id = idOfCode(core.vault, affCode)
  if (id === null) return null
  const { values } = await allOptions(core.db)
  if (!optionFlag(values, 'AffEnabled')) return null
  const inviter = await core.actors.peek(userDecider, userStream(id))
  return isActiveUser(inviter) ? id : null
}

/**
 * Returns the steps (commands to single streams) that reward the inviter and the new user. The
 * append that creates the user must contain these steps, so that each reward is paid once.
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

export type NewUser = {
  readonly username: string
  readonly displayName: string
  /** The password, or null if the user has only other login methods. */
  readonly password: string | null
  readonly role: Role
  readonly quota: bigint
  readonly reason: 'setup' | 'new-user'
  /** The user's identities. They must already be verified. */
  readonly identities?: readonly Identity[]
  /**
   * The id of the inviter. If it is set, the inviter and the new user receive the rewards that the
   * options define.
   */
  readonly inviterId?: number | null
  /**
   * The request, if the user registers. The request's IP address is encrypted with the new user's
   * key.
   */
  readonly request?: Pick<FastifyRequest, 'ip'>
}

/**
 * Creates a user with username, identities and initial quota in one append. The append starts with
 * the steps that `before` returns.
 */
export async function createUserAccount(
  deps: Deps,
  user: NewUser,
  context: CommandContext,
  before: (userId: number) => readonly AnyStep[] = () => [],
): Promise<WithId<Outcome<Fact, CodedError>>> {
  const { vault, actors } = deps.core
  const { inviterId = null } = user
  const nameKey = nameKeyOf(vault, user.username)
  const hash = user.password === null ? null : await vault.hashPassword(user.password)
  return deps.nextIds('user', async (userId) => {
    const passwordRef = hash === null ? null : await storePassword(vault, userId, hash)
    const claim = { type: 'ClaimUsername', nameKey, userId }
    const create = {
      type: 'CreateUser',
      userId,
      username: await vault.seal(userId, user.username),
      displayName: await vault.seal(userId, user.displayName),
      role: user.role,
      group: 'default',
      passwordRef,
      inviterId,
    }
    const steps: AnyStep[] = [
      ...before(userId),
      ...[
        { decider: userDecider, stream: userStream(userId), command: create },
        { decider: usernameDecider, stream: usernameStream(nameKey), command: claim },
        ...(await identitySteps(deps, userId, user)),
      ].map((step) => ({ ...step, mustBeNew: true })),
      ...firstQuota(userId, user),
      ...(await inviteSteps(deps, { inviterId, inviteeId: userId })),
    ]
    const { request } = user
    const client = request === undefined ? context.client : await clientOf(vault, request, userId)
    const outcome = await actors.handleTogether(steps, { ...context, client: client ?? null })
    if (!outcome.isDone && passwordRef !== null) await vault.deleteSecret(passwordRef)
    return outcome
  })
}

async function identitySteps(
  deps: Deps,
  userId: number,
  { identities = [] }: NewUser,
): Promise<AnyStep[]> {
  const steps = identities.map((identity) => bindSteps(deps, userId, identity, null))
  return (await Promise.all(steps)).flat()
}

function firstQuota(userId: number, { quota, reason }: NewUser): AnyStep[] {
  if (quota === 0n) return []
  const command = { type: 'GrantQuota', userId, grantId: reason, amount: quota, reason }
  return [{ decider: accountDecider, stream: accountStream(userId), command }]
}
