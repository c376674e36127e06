import { onlyRoot } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { languageOf } from '#infra/http/request-language.ts'
import { done } from '#infra/http/response-envelope.ts'
import { MailFailed } from '#infra/mail/port.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Action } from '../action.ts'
import { optionActions } from '../contract/options.ts'
import { mailAddressOf } from './mail-address.ts'
import { mailError } from './mail-errors.ts'
import { testMail } from './mail-templates.ts'
import { siteNameOf } from './site-mailer.ts'

/**
 * POST /api/option/test_mail: sends a test mail with the saved settings. If the sending fails, the
 * response contains the detailed error.
 */
export const sendTestMail: Action = (api, { core, mailer }) => {
  api.route({
    ...endpoint(optionActions, 'POST /api/option/test_mail'),
    onRequest: onlyRoot,
    handler: async (request) => {
      const to = mailAddressOf(request.body.to)
      const { values } = await allOptions(core.db)
      try {
        await mailer.send({ to, ...testMail(languageOf(request), siteNameOf(values)) })
      } catch (error) {
        if (error instanceof MailFailed) throw mailError('TestMailFailed', { error: error.code })
        throw error
      }
      return done()
    },
  })
}
