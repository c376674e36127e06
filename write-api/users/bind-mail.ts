import { onlySession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { BindMail } from '#write-api/contract/registration.ts'
import { type Action, contextOf, waitUntilVisible } from '../action.ts'
import { requireRecentLogin } from '../credentials/proof.ts'
import { checkMailDomain, mailAddressOf } from '../mail/mail-address.ts'
import { verifyMailCode } from '../mail/mail-codes.ts'
import { loginError } from '../sessions/login-errors.ts'
import { bindIdentity, mailIdentity } from './bind-identity.ts'
import { assertNotAnotherUsername } from './user-names.ts'

/** GET /api/oauth/email/bind: binds a mail address that the mailed code proves. */
export const bindMail: Action = (api, deps) => {
  api.get(
    '/api/oauth/email/bind',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Bind a mail address to your account with the mailed code',
        querystring: BindMail,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      await requireRecentLogin(deps, request)
      const { email, code } = request.query
      const address = mailAddressOf(email)
      if (code.trim() === '') throw loginError('MailCodeRequired')
      const { values } = await allOptions(deps.core.db)
      checkMailDomain(values, address)
      const isRight = await verifyMailCode(deps.core, request, `bind:${userId}`, { address, code })
      if (!isRight) throw loginError('MailCodeWrong')
      await assertNotAnotherUsername(deps.core, address, userId)
      const context = contextOf(deps, request)
      const position = await bindIdentity(deps, userId, mailIdentity(address), context)
      await waitUntilVisible(deps, reply, ['users'], position)
      return done()
    },
  )
}
