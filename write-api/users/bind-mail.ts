import { onlySession, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done } from '#infra/http/response-envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { type Action, contextOf, waitUntilVisible } from '../action.ts'
import { registrationActions } from '../contract/registration.ts'
import { requireRecentLogin } from '../credentials/identity-proof.ts'
import { checkMailDomain, mailAddressOf } from '../mail/mail-address.ts'
import { verifyMailCode } from '../mail/mail-codes.ts'
import { loginError } from '../sessions/login-and-registration-errors.ts'
import { bindIdentity, mailIdentity } from './bind-identity.ts'
import { assertNotAnotherUsername } from './user-names.ts'

/** GET /api/oauth/email/bind: binds an email address with the code that was mailed to it. */
export const bindMail: Action = (api, deps) => {
  api.route({
    ...endpoint(registrationActions, 'GET /api/oauth/email/bind'),
    onRequest: onlySession,
    handler: async (request, reply) => {
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
  })
}
