import { credentialsDecider } from '#domain/credentials/decide.ts'
import { type CredentialsEvent, credentialsStream } from '#domain/credentials/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { USER } from '#domain/shared/roles.ts'
import type { UserCommand } from '#domain/user/commands.ts'
import { userDecider } from '#domain/user/decide.ts'
import { type Role, userStream } from '#domain/user/events.ts'
import type { AnyStep } from '#infra/event-store/actors-port.ts'
import { onlyAdminSession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { findUser } from '#projections/users/query.ts'
import { ResetSecondFactor } from '#write-api/contract/users.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { factorResetMail } from '../mail/mail-templates.ts'
import { siteNameOf } from '../mail/site-mailer.ts'
import { enabledLoginMethods, whileWaysChange } from '../users/login-methods.ts'
import { credentialsError } from './credentials-errors.ts'
import { credentialsOf } from './credentials-of.ts'

/**
 * POST /api/user/reset_second_factor: somebody of a lower level who lost every second factor comes
 * in by the password again. Ends that user's logins, and says so by mail where there is one.
 */
export const resetSecondFactor: Action = (api, deps) => {
  const underWay = new Set<Promise<void>>()
  api.addHook('onClose', async () => void (await Promise.all(underWay)))
  api.post(
    '/api/user/reset_second_factor',
    {
      onRequest: onlyAdminSession,
      schema: {
        summary: 'Take away the second factors of a user, who is logged out everywhere',
        body: ResetSecondFactor,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const { id } = request.body
      const { userId, role } = principalOf(request)
      const { actors, log } = deps.core
      // A session left open must not be enough: the own ones are turned off by a proof.
      if (id === userId) throw credentialsError('OwnSecondFactorElsewhere')
      const { user } = await actors.stateOf(userDecider, userStream(id))
      const outcome = await whileWaysChange(async () => {
        const steps = await stepsToReset(deps, id, role as Role)
        return actors.handleTogether(steps, contextOf(deps, request))
      })
      const error = outcome.isDone ? null : outcome.error.code
      if (error === 'LastWayIn') throw credentialsError('OnlyPasskeysLeft')
      // A reset that was cut short after its event leaves that to the next, which changes nothing.
      if (error === null || error === 'NoSecondFactor') await forgetSecrets(deps, id)
      const { position } = accepted(outcome)
      await request.server.gate.sessions.endAllOf(id)
      const telling = tell(deps, id, typeof user?.passwordRef === 'string')
        .catch(({ message }: Error) => log.warn({ reason: message }, 'a reset was not told'))
        .finally(() => underWay.delete(telling))
      underWay.add(telling)
      await waitUntilVisible(deps, reply, ['users', 'credentials'], position)
      return done()
    },
  )
}

/** NOTE: the passkeys' own part before the user's, which says that they are gone. */
async function stepsToReset(deps: Deps, id: number, actorRole: Role): Promise<AnyStep[]> {
  const { actors, db } = deps.core
  const stream = userStream(id)
  const { user } = await actors.stateOf(userDecider, stream)
  const { passkeys } = await credentialsOf(deps, id)
  const { values } = await allOptions(db)
  const ofUser = (command: UserCommand): AnyStep => ({ decider: userDecider, stream, command })
  const giveUp = {
    type: 'GiveUpPasskeys',
    enabledLoginMethods: enabledLoginMethods(values, user?.role ?? USER),
    ifWaysGone: user?.waysGone ?? 0,
  } as const
  return [
    ofUser({ type: 'MayAct', actorRole }),
    {
      decider: credentialsDecider,
      stream: credentialsStream(id),
      command: { type: 'ResetSecondFactor', userId: id, passkeyIds: [...passkeys.keys()] },
    },
    // Passkeys let in by themselves: with nothing else to come in by, they stay.
    ...(passkeys.size === 0 ? [] : [ofUser(giveUp)]),
    ofUser({ type: 'VoidLogins', actorRole }),
  ]
}

/** Those of an app that is set up no more. By the events: what is only offered has none yet. */
async function forgetSecrets({ core }: Deps, userId: number): Promise<void> {
  const stream = credentialsStream(userId)
  const events = (await core.store.readStream(stream)) as Recorded<CredentialsEvent>[]
  const { totp } = await core.actors.stateOf(credentialsDecider, stream)
  for (const { type, data } of events) {
    if (type !== 'TotpEnabled' || data.secretRef === totp?.secretRef) continue
    await core.vault.deleteSecret(data.secretRef)
  }
}

/** Beside the answer: the mail server may take its time. */
async function tell({ core, mailer }: Deps, userId: number, hasPassword: boolean): Promise<void> {
  const user = await findUser(core.db, userId)
  if (user === null || user.email === '') return
  const { values } = await allOptions(core.db)
  await mailer.send({ to: user.email, ...factorResetMail(siteNameOf(values), hasPassword) })
}
