import type { FastifyRequest } from 'fastify'
import type { SetBalance } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { optionJson } from '#domain/options/option-registry.ts'
import { isCodedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
import type { UserCommand } from '#domain/users/commands.ts'
import { userDecider } from '#domain/users/decide.ts'
import { type Role, userStream } from '#domain/users/events.ts'
import type { UserRecord } from '#domain/users/state.ts'
import type { AnyStep } from '#infra/event-store/stream-actors-port.ts'
import { onlyAdmin, principalOf, requireSession } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { done } from '#infra/http/response-envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { findUser } from '#projections/users/query.ts'
import type { UpdateUser } from '#write-api/contract/users.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { userActions } from '../contract/users.ts'
import { toHttpError } from '../domain-error-catalogue.ts'
import { accountError } from './account-errors.ts'
import { sealReason } from './adjust-quota.ts'
import { checkPassword, deleteOldPasswords, storePassword } from './passwords.ts'
import { userError } from './user-errors.ts'
import { displayNameOf } from './user-names.ts'

/**
 * PUT /api/user/: changes a user in one append. Admins may change only normal users. The super
 * admin may change all users.
 */
export const updateUser: Action = (api, deps) => {
  api.route({
    ...endpoint(userActions, 'PUT /api/user/'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { body } = request
      const { userId, role } = principalOf(request)
      const actorRole = role as Role
      // An access token may leak from a script. The token must not be sufficient to take over an
      // account.
      if ((body.password ?? '') !== '') requireSession(principalOf(request))
      const position = await deps.runExclusive(`user-${body.id}`, async () => {
        const mayAct = stepOf(body.id, { type: 'MayAct', actorRole })
        const user = await loadChangeableUser(deps, body.id, mayAct.command)
        // Admins must change their own password in their profile, where the current password is
        // required. An unattended session must not be sufficient.
        const isOwnPassword = body.id === userId && (body.password ?? '') !== ''
        if (isOwnPassword) throw userError('OwnPasswordElsewhere')
        // The quota step is prepared before the password hash is stored, because the preparation
        // may fail.
        const sealedReason = () => sealReason(deps.core.vault, body.id, body.reason)
        const quota = await quotaSteps(deps, request, body, sealedReason)
        const profile = await profileSteps(deps, user, body, actorRole, sealedReason)
        const steps = [...quota, ...profile.steps]
        if (steps.length === 0) return deps.core.store.headPosition()
        const { actors, vault } = deps.core
        const context = contextOf(deps, request)
        const outcome = await actors.handleTogether([mayAct, ...steps], context)
        const { passwordRef } = profile
        if (!outcome.isDone && passwordRef !== null) await vault.deleteSecret(passwordRef)
        const { position } = accepted(outcome)
        await rememberBalance(deps, request, body)
        if (passwordRef === null) return position
        await request.server.gate.sessions.endAllOf(body.id)
        await deleteOldPasswords(deps.core, body.id)
        return position
      })
      await waitUntilVisible(deps, reply, ['users', 'balances'], position)
      return done()
    },
  })
}

type SealReason = () => ReturnType<typeof sealReason>

const stepOf = (userId: number, command: UserCommand) => ({
  decider: userDecider,
  stream: userStream(userId),
  command,
})

/**
 * Returns the user. Throws if the caller may not change the user. This is checked before a password
 * hash is stored, because the append would be rejected.
 */
async function loadChangeableUser(
  { core }: Deps,
  userId: number,
  mayAct: UserCommand,
): Promise<UserRecord> {
  const state = await core.actors.stateOf(userDecider, userStream(userId))
  const decided = userDecider.decide(mayAct, state)
  if (isCodedError(decided)) throw toHttpError(decided)
  if (state.user === null) throw userError('UserUnknown')
  return state.user
}

async function profileSteps(
  deps: Deps,
  user: UserRecord,
  { display_name, password = '', group = user.group }: UpdateUser,
  actorRole: Role,
  sealedReason: SealReason,
): Promise<{ readonly steps: AnyStep[]; readonly passwordRef: string | null }> {
  const { vault } = deps.core
  const { userId } = user
  const steps: AnyStep[] = []
  const step = (command: UserCommand) => steps.push(stepOf(userId, command))
  if (display_name !== undefined) {
    const before = await vault.open(userId, user.displayName as Sealed)
    const name = displayNameOf(display_name) || (await usernameOf(deps, userId))
    const displayName = await vault.seal(userId, name)
    if (name !== before) step({ type: 'ChangeProfile', actorRole, displayName })
  }
  if (group !== user.group) {
    await checkGroup(deps, group)
    step({ type: 'ChangeGroup', actorRole, group, ...(await sealedReason()) })
  }
  if (password === '') return { steps, passwordRef: null }
  checkPassword(password)
  const passwordRef = await storePassword(vault, userId, await vault.hashPassword(password))
  step({ type: 'ChangePassword', actorRole, passwordRef })
  return { steps, passwordRef }
}

/** Returns the username of a user. The username replaces an empty display name. */
const usernameOf = async ({ core }: Deps, userId: number): Promise<string> =>
  (await findUser(core.db, userId))?.username ?? ''

async function checkGroup({ core }: Deps, group: string): Promise<void> {
  const { values } = await allOptions(core.db)
  const ratios = optionJson(values, 'GroupRatio') as Readonly<Record<string, unknown>>
  if (!Object.hasOwn(ratios, group)) throw userError('GroupUnknown')
}

/**
 * Returns the step that sets the balance, or no step if the caller does not change the balance.
 * During the append, the account checks the expected balance, if the caller has sent or received
 * one. The id of the HTTP request ensures that the change is made only once.
 */
async function quotaSteps(
  deps: Deps,
  request: FastifyRequest,
  { id: userId, quota, expected_quota: expectedQuota }: UpdateUser,
  sealedReason: SealReason,
): Promise<AnyStep[]> {
  // In a complete row that a client sends back, both values are equal.
  if (quota === undefined || quota === expectedQuota) return []
  const { actors } = deps.core
  const stream = accountStream(userId)
  const balanceNow = await actors.ask(accountDecider, stream, ({ balance }) => balance)
  if (BigInt(quota) === balanceNow && expectedQuota === undefined) return []
  // NOTE: a new balance must not be negative. An unchanged negative balance has already been
  // accepted above.
  if (quota < 0) throw invalidField('quota', { zh: '不能小于 0', en: 'must be at least 0' })
  const expected =
    expectedQuota === undefined
      ? await deps.shownBalances.lastOf(principalOf(request), userId)
      : BigInt(expectedQuota)
  if (expected === 'unknown') throw accountError('BalanceMoved', { balance: String(balanceNow) })
  const command: SetBalance = {
    type: 'SetBalance',
    userId,
    adjustmentId: request.id,
    balance: BigInt(quota),
    ...(expected === null ? {} : { expected }),
    ...(await sealedReason()),
  }
  return [{ decider: accountDecider, stream, command }]
}

/**
 * Remembers the new balance as the balance that the caller received last, so that the caller can
 * set the balance again without reading it first.
 */
async function rememberBalance(
  deps: Deps,
  request: FastifyRequest,
  { id, quota, expected_quota }: UpdateUser,
): Promise<void> {
  if (quota === undefined || quota === expected_quota) return
  await deps.shownBalances.remember(principalOf(request), new Map([[id, quota]]))
}
