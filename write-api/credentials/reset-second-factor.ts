import { credentialsDecider } from '#domain/credentials/decide.ts'
import { credentialsStream } from '#domain/credentials/events.ts'
import { userDecider } from '#domain/user/decide.ts'
import { type Role, userStream } from '#domain/user/events.ts'
import { onlyAdminSession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { findUser } from '#projections/users/query.ts'
import { ResetSecondFactor } from '#write-api/contract/user.ts'
import { type Act, accepted, contextOf, type Parts, visibleIn } from '../act.ts'
import { factorResetMail } from '../mail/mail-words.ts'
import { siteNameOf } from '../mail/site-mailer.ts'
import { refused } from '../refusals.ts'
import { credentialsOf } from './credentials-of.ts'

/**
 * POST /api/user/reset_second_factor: somebody of a lower level who lost every second factor comes
 * in by the password again. Ends that user's logins, and says so by mail where there is one.
 */
export const resetSecondFactor: Act = (api, parts) => {
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
      const { actors, vault, log } = parts.core
      // A session left open must not be enough: the own ones are turned off by a proof.
      if (id === userId) throw refused('OwnSecondFactorElsewhere')
      const { totp } = await credentialsOf(parts, id)
      const steps = [
        {
          decider: userDecider,
          stream: userStream(id),
          command: { type: 'VoidLogins', actorRole: role as Role },
        },
        {
          decider: credentialsDecider,
          stream: credentialsStream(id),
          command: { type: 'ResetSecondFactor', userId: id },
        },
      ]
      const { position } = accepted(await actors.handleTogether(steps, contextOf(parts, request)))
      await request.server.gate.sessions.endAllOf(id)
      if (totp !== null) await vault.deleteSecret(totp.secretRef)
      const telling = tell(parts, id)
        .catch(({ message }: Error) => log.warn({ reason: message }, 'a reset was not told'))
        .finally(() => underWay.delete(telling))
      underWay.add(telling)
      await visibleIn(parts, reply, ['users', 'credentials'], position)
      return done()
    },
  )
}

/** Beside the answer: the mail server may take its time. */
async function tell({ core, mailer }: Parts, userId: number): Promise<void> {
  const user = await findUser(core.db, userId)
  if (user === null || user.email === '') return
  const { values } = await allOptions(core.db)
  await mailer.send({ to: user.email, ...factorResetMail(siteNameOf(values)) })
}
