import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import type { Fact } from '#domain/shared/event.ts'
import type { Refusal } from '#domain/shared/refusal.ts'
import { userDecider } from '#domain/user/decide.ts'
import { type Role, usernameStream, userStream } from '#domain/user/events.ts'
import { usernameDecider } from '#domain/user/username.ts'
import type { ActContext, AnyStep, Outcome } from '#infra/event-store/actors-port.ts'
import type { Deps } from '../act.ts'
import type { WithId } from '../next-id.ts'
import { bindSteps } from './bind-identity.ts'
import type { Identity } from './identity.ts'
import { inviteSteps } from './invites.ts'
import { keepPassword } from './password-secret.ts'
import { nameKeyOf } from './username.ts'

export type NewUser = {
  readonly username: string
  readonly displayName: string
  /** null for who comes by another way in. */
  readonly password: string | null
  readonly role: Role
  readonly quota: bigint
  readonly reason: 'setup' | 'new-user'
  /** Proved to be theirs. */
  readonly identities?: readonly Identity[]
  /** Who invited them: both are rewarded in the same append. */
  readonly inviterId?: number | null
}

/**
 * Name, identities, user and first quota in one append, or none of it. `before` makes the steps
 * that have to hold first, or go with it; the first refusal is answered.
 */
export async function createUserAccount(
  deps: Deps,
  user: NewUser,
  context: ActContext,
  before: (userId: number) => readonly AnyStep[] = () => [],
): Promise<WithId<Outcome<Fact, Refusal>>> {
  const { vault, actors } = deps.core
  const { inviterId = null } = user
  const nameKey = nameKeyOf(vault, user.username)
  const hash = user.password === null ? null : await vault.hashPassword(user.password)
  return deps.nextIds('user', async (userId) => {
    const passwordRef = hash === null ? null : await keepPassword(vault, userId, hash)
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
    const outcome = await actors.handleTogether(steps, context)
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
