import type { FastifyRequest } from 'fastify'
import type { SetBalance } from '#domain/account/commands.ts'
import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { optionJson } from '#domain/options/registry.ts'
import { isCodedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
import type { UserCommand } from '#domain/user/commands.ts'
import { userDecider } from '#domain/user/decide.ts'
import { type Role, userStream } from '#domain/user/events.ts'
import type { KnownUser } from '#domain/user/state.ts'
import type { AnyStep } from '#infra/event-store/actors-port.ts'
import { onlyAdmin, principalOf, requireSession } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import { allOptions } from '#projections/options/query.ts'
import { findUser } from '#projections/users/query.ts'
import { Refused } from '#read-api/contract/envelope.ts'
import { UpdateUser } from '#write-api/contract/users.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { toHttpError } from '../error-catalogue.ts'
import { sealedReason } from './adjust-quota.ts'
import { checkPassword, deleteOldPasswords, storePassword } from './passwords.ts'
import { userError } from './user-errors.ts'
import { displayNameOf } from './user-names.ts'

/** PUT /api/user/: an admin changes somebody of a lower level: all of what is given, or nothing. */
export const updateUser: Action = (api, deps) => {
  api.put(
    '/api/user/',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Change a user; a new quota grants or deducts the difference',
        body: UpdateUser,
        response: { 200: Done, 409: Refused },
      },
    },
    async (request, reply) => {
      const { body } = request
      const { userId, role } = principalOf(request)
      const actorRole = role as Role
      // A token lies in scripts: whoever finds it must not come in as somebody else by it.
      if ((body.password ?? '') !== '') requireSession(principalOf(request))
      const position = await deps.runExclusive(`user-${body.id}`, async () => {
        const mayAct = stepOf(body.id, { type: 'MayAct', actorRole })
        const user = await changeable(deps, body.id, mayAct.command)
        // A session left open, or an access token, must not be enough for that.
        const isOwnPassword = body.id === userId && (body.password ?? '') !== ''
        if (isOwnPassword) throw userError('OwnPasswordElsewhere')
        // The account decides, and so comes first: calls may take the quota at any moment. What
        // it refuses at once leaves no hash of a password behind.
        const why = () => sealedReason(deps.core.vault, body.id, body.reason)
        const quota = await quotaSteps(deps, request, body, why)
        const profile = await profileSteps(deps, user, body, actorRole, why)
        const steps = [...quota, ...profile.steps]
        if (steps.length === 0) return deps.core.store.headPosition()
        const { actors, vault } = deps.core
        const context = contextOf(deps, request)
        const outcome = await actors.handleTogether([mayAct, ...steps], context)
        const { passwordRef } = profile
        if (!outcome.isDone && passwordRef !== null) await vault.deleteSecret(passwordRef)
        const { position } = accepted(outcome)
        await rememberOwn(deps, request, body)
        if (passwordRef === null) return position
        await request.server.gate.sessions.endAllOf(body.id)
        await deleteOldPasswords(deps.core, body.id)
        return position
      })
      await waitUntilVisible(deps, reply, ['users', 'balances'], position)
      return done()
    },
  )
}

type Why = () => ReturnType<typeof sealedReason>

const stepOf = (userId: number, command: UserCommand) => ({
  decider: userDecider,
  stream: userStream(userId),
  command,
})

/** As of now, so that nothing is made ready for what the append would refuse. */
async function changeable({ core }: Deps, userId: number, mayAct: UserCommand): Promise<KnownUser> {
  const state = await core.actors.stateOf(userDecider, userStream(userId))
  const decided = userDecider.decide(mayAct, state)
  if (isCodedError(decided)) throw toHttpError(decided)
  if (state.user === null) throw userError('UserUnknown')
  return state.user
}

async function profileSteps(
  deps: Deps,
  user: KnownUser,
  { display_name, password = '', group = user.group }: UpdateUser,
  actorRole: Role,
  why: Why,
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
    step({ type: 'ChangeGroup', actorRole, group, ...(await why()) })
  }
  if (password === '') return { steps, passwordRef: null }
  checkPassword(password)
  const passwordRef = await storePassword(vault, userId, await vault.hashPassword(password))
  step({ type: 'ChangePassword', actorRole, passwordRef })
  return { steps, passwordRef }
}

/** What is shown where no other name is. */
const usernameOf = async ({ core }: Deps, userId: number): Promise<string> =>
  (await findUser(core.db, userId))?.username ?? ''

async function checkGroup({ core }: Deps, group: string): Promise<void> {
  const { values } = await allOptions(core.db)
  const ratios = optionJson(values, 'GroupRatio') as Readonly<Record<string, unknown>>
  if (!Object.hasOwn(ratios, group)) throw userError('GroupUnknown')
}

/**
 * The account decides at the append whether the balance is still the expected one; the request's
 * id makes the change happen once.
 */
async function quotaSteps(
  deps: Deps,
  request: FastifyRequest,
  { id: userId, quota, expected_quota: given }: UpdateUser,
  why: Why,
): Promise<AnyStep[]> {
  // A row that was read is sent back as it was: it asks for no other balance.
  if (quota === undefined || quota === given) return []
  const { actors } = deps.core
  const stream = accountStream(userId)
  const balanceNow = await actors.ask(accountDecider, stream, ({ balance }) => balance)
  if (BigInt(quota) === balanceNow && given === undefined) return []
  // NOTE: a balance may be below 0, and its row is sent back; a new one can't be.
  if (quota < 0) throw invalidField('quota', { zh: '不能小于 0', en: 'must be at least 0' })
  const shown =
    given === undefined
      ? await deps.shownBalances.lastOf(principalOf(request), userId)
      : BigInt(given)
  const command: SetBalance = {
    type: 'SetBalance',
    userId,
    adjustmentId: request.id,
    balance: BigInt(quota),
    ...(shown === null ? {} : { expected: shown }),
    ...(await why()),
  }
  return [{ decider: accountDecider, stream, command }]
}

/** A caller knows the balance that it has set, and may set another one without reading it. */
async function rememberOwn(
  deps: Deps,
  request: FastifyRequest,
  { id, quota, expected_quota }: UpdateUser,
): Promise<void> {
  if (quota === undefined || quota === expected_quota) return
  await deps.shownBalances.remember(principalOf(request), new Map([[id, quota]]))
}
