import { credentialsDecider } from '#domain/credentials/decide.ts'
import { type CredentialsEvent, credentialsStream } from '#domain/credentials/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { USER } from '#domain/shared/user-roles-and-statuses.ts'
import type { UserCommand } from '#domain/users/commands.ts'
import { userDecider } from '#domain/users/decide.ts'
import { type Role, userStream } from '#domain/users/events.ts'
import type { AnyStep } from '#infra/event-store/stream-actors-port.ts'
import { onlyAdminSession, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done } from '#infra/http/response-envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { findUser } from '#projections/users/query.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { userActions } from '../contract/users.ts'
import { factorResetMail } from '../mail/mail-templates.ts'
import { siteNameOf } from '../mail/site-mailer-and-test-mail.ts'
import {
  enabledLoginMethods,
  retryWhileLoginMethodsChange,
} from '../users/enabled-login-methods-and-removal-retry.ts'
import { credentialsError } from './credentials-errors.ts'
import { credentialsOf } from './read-and-change-credentials.ts'

/**
 * POST /api/user/reset_second_factor: removes all second factors of a user, ends the user's
 * sessions, and notifies the user by email. Admins may reset only normal users. The super admin may
 * reset all other users.
 */
export const resetSecondFactor: Action = (api, deps) => {
  const pending = new Set<Promise<void>>()
  api.addHook('onClose', async () => void (await Promise.all(pending)))
  api.route({
    ...endpoint(userActions, 'POST /api/user/reset_second_factor'),
    onRequest: onlyAdminSession,
    handler: async (request, reply) => {
      const { id } = request.body
      const { userId, role } = principalOf(request)
      const { actors, log } = deps.core
      // Admins must disable their own second factors in their personal settings, with a proof of
      // identity. A session alone is not sufficient, because the session may be unattended.
      if (id === userId) throw credentialsError('OwnSecondFactorElsewhere')
      const { user } = await actors.stateOf(userDecider, userStream(id))
      const outcome = await retryWhileLoginMethodsChange(async () => {
        const steps = await stepsToReset(deps, id, role as Role)
        return actors.handleTogether(steps, contextOf(deps, request))
      })
      const error = outcome.isDone ? null : outcome.error.code
      if (error === 'LastWayIn') throw credentialsError('OnlyPasskeysLeft')
      // The secrets are also deleted if the user has no second factor left, because an earlier
      // reset may have been interrupted before it deleted the secrets.
      if (error === null || error === 'NoSecondFactor') await deleteStaleSecrets(deps, id)
      const { position } = accepted(outcome)
      await request.server.gate.sessions.endAllOf(id)
      const notice = mailNotice(deps, id, typeof user?.passwordRef === 'string')
        .catch(({ message }: Error) =>
          log.warn({ reason: message }, 'mailing the notice of a second factor reset failed'),
        )
        .finally(() => pending.delete(notice))
      pending.add(notice)
      await waitUntilVisible(deps, reply, ['users', 'credentials'], position)
      return done()
    },
  })
}

/**
 * Returns the steps (commands to single streams) of a reset. NOTE: the step for the credentials
 * stream comes before the step that removes the passkeys from the user's stream.
 */
async function stepsToReset(deps: Deps, id: number, actorRole: Role): Promise<AnyStep[]> {
  const { actors, db } = deps.core
  const stream = userStream(id)
  const { user } = await actors.stateOf(userDecider, stream)
  const { passkeys } = await credentialsOf(deps, id)
  const { values } = await allOptions(db)
  const userStep = (command: UserCommand): AnyStep => ({ decider: userDecider, stream, command })
  const dropPasskeys = {
    type: 'DropPasskeys',
    enabledLoginMethods: enabledLoginMethods(values, user?.role ?? USER),
    expectedRemovedLoginMethods: user?.removedLoginMethods ?? 0,
  } as const
  return [
    userStep({ type: 'MayAct', actorRole }),
    {
      decider: credentialsDecider,
      stream: credentialsStream(id),
      command: { type: 'ResetSecondFactor', userId: id, passkeyIds: [...passkeys.keys()] },
    },
    // A passkey is also a login method. The reset is rejected if the user has no other login
    // method.
    ...(passkeys.size === 0 ? [] : [userStep(dropPasskeys)]),
    userStep({ type: 'VoidLogins', actorRole }),
  ]
}

/**
 * Deletes the secrets of authenticator apps that are no longer enabled. The references of the
 * secrets come from the events. The secret of an app that the user has not confirmed yet is kept,
 * because no event contains the reference of this secret.
 */
async function deleteStaleSecrets({ core }: Deps, userId: number): Promise<void> {
  const stream = credentialsStream(userId)
  const events = (await core.store.readStream(stream)) as Recorded<CredentialsEvent>[]
  const { totp } = await core.actors.stateOf(credentialsDecider, stream)
  for (const { type, data } of events) {
    if (type !== 'TotpEnabled' || data.secretRef === totp?.secretRef) continue
    await core.vault.deleteSecret(data.secretRef)
  }
}

/**
 * Sends the user a mail about the reset of the second factors, if the user has an email address.
 * The response does not wait for the mail server.
 */
async function mailNotice(
  { core, mailer }: Deps,
  userId: number,
  hasPassword: boolean,
): Promise<void> {
  const user = await findUser(core.db, userId)
  if (user === null || user.email === '') return
  const { values } = await allOptions(core.db)
  await mailer.send({ to: user.email, ...factorResetMail(siteNameOf(values), hasPassword) })
}
